#include "scenario/rabbit/rabbit_scenario.hpp"

#include <array>
#include <utility>

#include "scenario/broker_weather.hpp"
#include "scenario/rabbit/rabbit_faults.hpp"
#include "scenario/rabbit/rabbit_scene.hpp"

namespace zkrecipes::simulation {

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
