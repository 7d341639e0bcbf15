// One client raises and lifts a barrier. The others wait at it, and now and then raise or lift it.
#include <map>

#include <zkrecipes/barrier.hpp>

#include "scenario/meddler.hpp"
#include "scenario/recipes.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr const char* barrier_path = "/gate";

class passer;

class barrier_scenario final : public scenario_of<barrier_scenario, passer> {
 public:
  explicit barrier_scenario(stage& in) : scenario_of(in), operator_(in, 740) {}

  void committed(const entry& what) override {
    for (const auto& each : what.changes) {
      if (each.path != barrier_path) continue;
      if (each.type == change::kind::create) {
        raises[what.zxid] = lifts, stands = true;
        operator_.perhaps_remove(4, {barrier_path}, 500ms);
      }
      if (each.type == change::kind::remove) ++lifts, stands = false;
    }
  }
  void check_quiet(const tree&) override {}

  bool stands = false;
  std::uint64_t lifts = 0;
  std::map<std::int64_t, std::uint64_t> raises;  ///< For each raise, by its zxid, the number of lifts before it.

 private:
  meddler operator_;
};

class passer final : public routine {
 public:
  passer(barrier_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), barrier_(with, barrier_path) {}

 private:
  /// Client 0 only raises and lifts the barrier, so that no client waits for ever.
  asio::awaitable<void> round() override {
    const bool keeps = client() == 0;
    if (keeps ? dice().one_in(2) : dice().one_in(6)) {
      co_await raise();
    } else if (keeps || dice().one_in(6)) {
      co_await lift();
    } else {
      co_await wait();
    }
  }

  asio::awaitable<void> raise() {
    const auto lifts_before = of_.lifts;
    auto raising = waits<std::int64_t>([&](auto token) { barrier_.async_raise(std::move(token)); });
    auto [error, number] = co_await std::move(raising);
    if (error) co_return;
    in().require(of_.raises.contains(number), "a raise has a number", std::to_string(number));
    in().require(of_.raises[number] >= lifts_before, "it is raised once that is said", std::to_string(number));
  }

  asio::awaitable<void> lift() {
    const bool stood = of_.stands;
    const auto lifts_before = of_.lifts;
    auto lifting = waits<>([&](auto token) { barrier_.async_lift(std::move(token)); });
    auto [error] = co_await std::move(lifting);
    if (error) co_return;
    of_.done.note(client());
    in().require(!stood || of_.lifts > lifts_before, "it is lifted once that is said");
  }

  asio::awaitable<void> wait() {
    const bool stood = of_.stands;
    const auto lifts_before = of_.lifts;
    const lease_clock::duration budget = dice().one_in(3) ? dice().between(0ms, 3s) : lease_clock::duration::max();
    auto waiting = waits<>([&](auto token) { barrier_.async_wait_for(budget, std::move(token)); });
    auto [error] = co_await std::move(waiting);
    if (error) co_return;
    of_.done.note(client());
    in().require(!stood || of_.lifts > lifts_before, "nobody goes through a barrier that is not lifted");
  }

  barrier_scenario& of_;
  barrier barrier_;
};

}  // namespace

std::unique_ptr<scenario> make_barrier_scenario(stage& in) { return std::make_unique<barrier_scenario>(in); }

}  // namespace zkrecipes::simulation
