#include <iterator>
#include <utility>
#include <vector>

#include "scenario/broker_weather.hpp"
#include "scenario/recipes.hpp"
#include "scenario/redis/redis_scene.hpp"

namespace zkrecipes::simulation {

/// The faults of the brokers, as the seed draws them.
class redis_faults {
 public:
  /// They strike while the plan has its faults.
  explicit redis_faults(redis_scene& of);

 private:
  enum class strike {
    crash,          ///< Killed, with everything kept.
    fail_over,      ///< The replica has everything.
    lose_writes,    ///< Killed, and what was written last is lost.
    lose_by_other,  ///< The replica has not got what was written last.
    stop,           ///< The broker stands still.
    refuse,         ///< It answers that it can not at present.
    lose_reply,     ///< A write is done, and its reply lost.
    remove,         ///< An operator deletes a stream.
  };
  static constexpr int strikes = static_cast<int>(strike::remove);  // those that are drawn like each other

  void plan(strike what);
  void begin(strike what);
  void lose(bool by_other, span behind, span away);
  bool is_time() const;
  void restart_later(span away);

  redis_scene& of_;
  chance chance_;
};

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
