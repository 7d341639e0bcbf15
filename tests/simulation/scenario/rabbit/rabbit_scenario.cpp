#include <array>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "scenario/broker_weather.hpp"
#include "scenario/rabbit/rabbit_scene.hpp"
#include "scenario/recipes.hpp"

namespace zkrecipes::simulation {

/// The faults of the broker, as the seed draws them.
class rabbit_faults {
 public:
  /// They strike while the plan has its faults.
  explicit rabbit_faults(rabbit_scene& of);

 private:
  enum class strike {
    crash_node,    ///< Its clients hear of it.
    vanish_node,   ///< They do not.
    stop_node,     ///< It stands still.
    lose_leader,   ///< A queue has none for a time.
    lose_sight,    ///< A queue takes its consumer for lost for a moment.
    raise_alarm,   ///< Publishers are asked to stop.
    delete_queue,  ///< By an operator.
  };
  static constexpr int strikes = static_cast<int>(strike::delete_queue);  // those that are drawn like each other

  void plan(strike what);
  void begin(strike what);
  void end_later(span lasting, void (rabbit_cluster::*how)(int), int node);

  rabbit_scene& of_;
  chance chance_;
};

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

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t least_acknowledged = 3;  // after healing, of each queue

class rabbit_scenario final : public scenario {
 public:
  explicit rabbit_scenario(stage& in) : scene_(in), faults_(scene_), weather_(in, 5s) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override {
    if (client == putting_client) return make_rabbit_putter(scene_, std::move(with));
    return make_feed_worker(scene_, in, client, std::move(with));
  }
  int contenders() const override { return scene_.feeds(); }
  bool contends_for_each() const override { return true; }
  void committed(const entry& what) override {
    for (auto& each : scene_.terms) each.committed(what);
    for (auto& each : scene_.lines) each.committed(what);
    scene_.messages.committed(what);
  }
  void watch_fired(const connection& to, const backend::watch_event& event) override {
    for (auto& each : scene_.lines) each.watch_fired(to, event);
  }
  void healed() override {
    scene_.in.brokers().heal();
    scene_.cluster.heal();
    for (std::uint32_t shard = 0; shard < rabbit_shards; ++shard) {
      at_healing_[shard] = scene_.messages.acknowledged(shard);
    }
  }
  bool recovered() override {
    for (std::uint32_t shard = 0; shard < rabbit_shards; ++shard) {
      if (scene_.messages.acknowledged(shard) < at_healing_[shard] + least_acknowledged) return false;
    }
    return true;
  }
  bool settled() override {
    for (std::uint32_t shard = 0; shard < rabbit_shards; ++shard) {
      const auto queue = scene_.cluster.find(scene_.queue_of(shard));
      if (queue && !queue->is_idle()) return false;
    }
    return scene_.messages.waiting() == 0;
  }
  void check_quiet(const tree& nodes) override {
    for (auto& each : scene_.terms) each.check_quiet(nodes);
    for (auto& each : scene_.lines) each.check_quiet(nodes);
    scene_.in.require(settled(), "every message is consumed");
    scene_.in.require(scene_.in.brokers().open_at_clients() == 0, "no connection to the broker is left");
  }

 private:
  rabbit_scene scene_;
  rabbit_faults faults_;
  broker_weather weather_;
  std::array<std::uint64_t, rabbit_shards> at_healing_{};
};

}  // namespace

std::unique_ptr<scenario> make_rabbit_scenario(stage& in) { return std::make_unique<rabbit_scenario>(in); }

}  // namespace zkrecipes::simulation
