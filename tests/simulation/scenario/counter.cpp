// All clients add to one number. The sum must agree with the results that they got.
#include <string>

#include <zkrecipes/counter.hpp>

#include "scenario/recipes.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr const char* counter_path = "/sums/total";

class adder;

class counter_scenario final : public scenario_of<counter_scenario, adder> {
 public:
  explicit counter_scenario(stage& in) : scenario_of(in), in_(in) {}

  void committed(const entry& what) override {
    for (const auto& each : what.changes) {
      if (each.path == counter_path) check(each.data);
    }
  }
  void check_quiet(const tree& nodes) override {
    const auto* there = nodes.find(counter_path);
    const std::int64_t value = there ? std::stoll(there->data) : 0;
    in_.require(added <= value, "nothing acknowledged is lost", describe(value));
    check(std::to_string(value));
  }

  std::int64_t added = 0;  ///< The sum of the acknowledged additions.
  std::int64_t maybe = 0;  ///< The sum of additions under way, of unknown outcome, and of killed processes.

 private:
  void check(const std::string& text) {
    const auto value = std::stoll(text);
    in_.require(value <= added + maybe, "nothing is added twice", describe(value));
  }
  std::string describe(std::int64_t value) const {
    return std::to_string(value) + ", acknowledged " + std::to_string(added) + ", unknown " + std::to_string(maybe);
  }

  stage& in_;
};

class adder final : public routine {
 public:
  adder(counter_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), sum_(with, counter_path) {}

 private:
  asio::awaitable<void> round() override {
    const auto delta = static_cast<std::int64_t>(1 + dice().below(9));
    of_.maybe += delta;
    auto adding = waits<std::int64_t>([&](auto token) { sum_.async_add(delta, std::move(token)); });
    auto [error, sum] = co_await std::move(adding);
    const bool unknown = error == errc::outcome_unknown || error == asio::error::operation_aborted;
    if (!unknown) of_.maybe -= delta;
    if (error) co_return;
    of_.added += delta;
    of_.done.note(client());
    in().require(sum >= delta, "a sum has its parts");
  }

  counter_scenario& of_;
  counter sum_;
};

}  // namespace

std::unique_ptr<scenario> make_counter_scenario(stage& in) { return std::make_unique<counter_scenario>(in); }

}  // namespace zkrecipes::simulation
