#include "scenario/redis/redis_scenario.hpp"

#include <utility>

#include "scenario/broker_weather.hpp"
#include "scenario/redis/redis_faults.hpp"
#include "scenario/redis/redis_scene.hpp"

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t least_settled = 10;  // after healing

class redis_scenario final : public scenario {
 public:
  explicit redis_scenario(stage& in) : scene_(in), faults_(scene_), weather_(in, 5s) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override {
    if (client == redis_putting_client) return make_redis_putter(scene_, std::move(with));
    return make_feed_worker(scene_, in, client, std::move(with));
  }
  int contenders() const override { return scene_.feeds(); }
  bool contends_for_each() const override { return true; }
  log_hook log_of(int) override {
    return [this](const log_event& what) { scene_.told(what); };
  }
  void committed(const entry& what) override {
    for (auto& each : scene_.terms) each.committed(what);
    for (auto& each : scene_.lines) each.committed(what);
    scene_.rules.committed(what);
  }
  void watch_fired(const connection& to, const backend::watch_event& event) override {
    for (auto& each : scene_.lines) each.watch_fired(to, event);
  }
  void healed() override {
    scene_.brokers.heal();
    scene_.in.brokers().heal();
    at_healing_ = scene_.rules.settled();
  }
  bool recovered() override { return scene_.rules.settled() >= at_healing_ + least_settled; }
  bool settled() override { return scene_.rules.unsettled().empty(); }
  void check_quiet(const tree& nodes) override {
    for (auto& each : scene_.terms) each.check_quiet(nodes);
    for (auto& each : scene_.lines) each.check_quiet(nodes);
    const auto left = scene_.rules.unsettled();
    scene_.in.require(left.empty(), "every entry that is kept is consumed", left);
    scene_.in.require(scene_.in.brokers().open_at_clients() == 0, "no connection to the broker is left");
  }

 private:
  redis_scene scene_;
  redis_faults faults_;
  broker_weather weather_;
  std::uint64_t at_healing_ = 0;
};

}  // namespace

std::unique_ptr<scenario> make_redis_scenario(stage& in) { return std::make_unique<redis_scenario>(in); }

}  // namespace zkrecipes::simulation
