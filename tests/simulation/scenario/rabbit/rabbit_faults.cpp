#include "scenario/rabbit/rabbit_faults.hpp"

#include <iterator>
#include <vector>

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

constexpr const char* strike_names[] = {"crash node", "vanish node", "stop node",   "lose leader",
                                        "lose sight", "raise alarm", "delete queue"};

}  // namespace

rabbit_faults::rabbit_faults(rabbit_scene& of) : of_(of), chance_(of.in.what().seed, 1'995) {
  static_assert(std::size(strike_names) == strikes + 1);
  std::vector<strike> kinds;
  for (int i = 0; i < strikes; ++i) {
    if (chance_.one_in(3)) kinds.push_back(static_cast<strike>(i));
  }
  if (!kinds.empty()) {
    for (auto left = 4 + chance_.below(20); left > 0; --left) plan(kinds[chance_.below(kinds.size())]);
  }
  if (!chance_.one_in(4)) return;
  for (auto left = 1 + chance_.below(2); left > 0; --left) plan(strike::delete_queue);
}

void rabbit_faults::plan(strike what) {
  const auto& times = of_.in.what();
  of_.in.clock().at(chance_.between(times.faults_from, times.faults_until - 1ms), [this, what] { begin(what); });
}

void rabbit_faults::begin(strike what) {
  of_.in.notes().note(journal::ensemble, strike_names[static_cast<int>(what)]);
  const auto lasting = chance_.one_in(3) ? chance_.between(10ms, 9s) : chance_.between(1ms, 1500ms);
  const auto node = static_cast<int>(chance_.below(rabbit_cluster::nodes));
  const auto queue = of_.queue_of(static_cast<std::uint32_t>(chance_.below(rabbit_shards)));
  auto& cluster = of_.cluster;
  switch (what) {
    case strike::crash_node:
    case strike::vanish_node:
      cluster.crash(node, what == strike::crash_node);
      return end_later(lasting, &rabbit_cluster::restart, node);
    case strike::stop_node: cluster.stop(node); return end_later(lasting, &rabbit_cluster::wake, node);
    case strike::lose_leader:
      cluster.lose_leader(queue);
      return of_.in.clock().after(lasting, [this, queue] { of_.cluster.elect(queue); });
    case strike::lose_sight: return cluster.lose_sight(queue);
    case strike::raise_alarm:
      cluster.raise_alarm();
      return of_.in.clock().after(lasting, [this] { of_.cluster.end_alarm(); });
    case strike::delete_queue: return cluster.remove(queue);
  }
}

void rabbit_faults::end_later(span lasting, void (rabbit_cluster::*how)(int), int node) {
  of_.in.clock().after(lasting, [this, how, node] { (of_.cluster.*how)(node); });
}

}  // namespace zkrecipes::simulation
