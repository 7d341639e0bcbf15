#include "scenario/redis/redis_faults.hpp"

#include <iterator>
#include <vector>

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

constexpr const char* redis_strike_names[] = {"crash", "fail over", "lose writes", "fall behind",
                                              "stop",  "refuse",    "lose reply",  "delete stream"};

}  // namespace

redis_faults::redis_faults(redis_scene& of) : of_(of), chance_(of.in.what().seed, 2'995) {
  static_assert(std::size(redis_strike_names) == strikes + 1);
  std::vector<strike> kinds;
  for (int i = 0; i < strikes; ++i) {
    if (chance_.one_in(3)) kinds.push_back(static_cast<strike>(i));
  }
  if (!kinds.empty()) {
    for (auto left = 2 + chance_.below(14); left > 0; --left) plan(kinds[chance_.below(kinds.size())]);
  }
  if (chance_.one_in(5)) plan(strike::remove);
}

bool redis_faults::is_time() const { return of_.in.clock().now() < of_.in.what().faults_until; }

void redis_faults::plan(strike what) {
  const auto& times = of_.in.what();
  of_.in.clock().at(chance_.between(times.faults_from, times.faults_until - 1ms), [this, what] { begin(what); });
}

void redis_faults::restart_later(span away) {
  of_.in.clock().after(away, [this] { of_.brokers.restart(); });
}

void redis_faults::begin(strike what) {
  of_.in.notes().note(journal::ensemble, redis_strike_names[static_cast<int>(what)]);
  const auto lasting = chance_.one_in(3) ? chance_.between(10ms, 6s) : chance_.between(1ms, 1s);
  const auto behind = chance_.between(1ms, 3s);
  auto& brokers = of_.brokers;
  switch (what) {
    case strike::crash: brokers.crash(); return restart_later(lasting);
    case strike::fail_over: brokers.fail_over(); return restart_later(lasting);
    case strike::lose_writes:
    case strike::lose_by_other: return lose(what == strike::lose_by_other, behind, lasting);
    case strike::stop: brokers.stop(); return of_.in.clock().after(lasting, [this] { of_.brokers.wake(); });
    case strike::refuse:
      brokers.set(static_cast<redis_pair::trouble>(1 + chance_.below(4)));
      return of_.in.clock().after(lasting, [this] { of_.brokers.set(redis_pair::trouble::none); });
    case strike::lose_reply: return brokers.lose_reply();
    case strike::remove: return brokers.remove(of_.broker.stream + ':' + std::to_string(chance_.below(2)));
  }
}

void redis_faults::lose(bool by_other, span behind, span away) {
  of_.brokers.fall_behind();
  of_.in.clock().after(behind, [this, by_other, away] {
    if (!is_time()) return;
    by_other ? of_.brokers.fail_over() : of_.brokers.crash();
    restart_later(away);
  });
}

}  // namespace zkrecipes::simulation
