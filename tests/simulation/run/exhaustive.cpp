#include "run/exhaustive.hpp"

#include <cstdio>

#include "run/progress_line.hpp"
#include "run/stage.hpp"
#include "scenario/single_fault.hpp"
#include "world/chance.hpp"

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t quick_seed = 1;
constexpr std::uint64_t single_fault_stream = 90;

/// A plan without faults: the trial adds its own. Seed 1 has the default timing of a quick ensemble; other seeds draw
/// the timing.
plan make_quiet_plan(bool in_company, lease_mode lease, std::uint64_t seed) {
  plan p;
  p.seed = seed;
  if (seed != quick_seed) {
    const auto drawn = make_plan(seed).servers;
    p.servers.max_delay = drawn.max_delay;
    p.servers.max_lag = drawn.max_lag;
    p.servers.election = drawn.election;
  }
  p.clients = in_company ? 3 : 1;
  p.timeout = 6s;
  p.lease = lease;
  p.parts_per_million.assign(static_cast<std::size_t>(p.clients), 0);
  p.faults_from = p.faults_until = 10s;
  p.takes_leases = true;
  return p;
}

std::string trial_name(const trial& one, lease_mode lease) {
  return one.what->name + (one.in_company ? "/company" : "/alone") +
         (lease == lease_mode::strict ? "/strict/" : "/standard/") + to_string(one.kind) + '/' +
         std::to_string(one.step);
}

outcome perform(trial& one, lease_mode lease, std::uint64_t seed, bool print) {
  return simulate(
      make_quiet_plan(one.in_company, lease, seed), [&one](stage& in) { return make_single_fault(in, one); }, print);
}

std::string line_of(const std::string& name, const violation& broken, std::uint64_t seed) {
  return name + " broke \"" + broken.invariant + "\": " + broken.detail +
         "; again: zkrecipes-simulate --single-faults '" + name + "'" +
         (seed == quick_seed ? "" : " --seed " + std::to_string(seed)) + " --trace";
}

class trials {
 public:
  trials(const std::string& filter, int every, std::uint64_t seed, bool trace)
      : filter_(filter), every_(every), seed_(seed), trace_(trace) {}

  /// Runs the operation without a fault, to count its steps, and then with each kind of fault at each step.
  void run(const script& what, bool in_company, lease_mode lease) {
    trial undisturbed{&what, in_company, step_fault::none, 0, 0, {}};
    run(undisturbed, lease);
    for (int kind = 1; kind < step_faults; ++kind) {
      for (int step = 1; step <= undisturbed.steps; ++step) {
        trial one{&what, in_company, static_cast<step_fault>(kind), step, 0, {}};
        run(one, lease);
      }
    }
  }

  int runs() const noexcept { return runs_; }
  int broken() const noexcept { return broken_; }

 private:
  void run(trial& one, lease_mode lease) {
    const auto name = trial_name(one, lease);
    const bool chosen = name.find(filter_) != name.npos;
    const bool faulty = one.kind != step_fault::none;
    if (faulty && (!chosen || ++seen_ % every_ != 0)) return;
    const auto result = perform(one, lease, seed_, trace_ && chosen);
    ++runs_;
    if (trace_ && chosen) std::printf("%s: %d steps, \"%s\"\n", name.c_str(), one.steps, one.end.message().c_str());
    if (!result.broken) return;
    ++broken_;
    std::printf("%s\n", line_of(name, *result.broken, seed_).c_str());
  }

  std::string filter_;
  int every_;
  std::uint64_t seed_;
  bool trace_;
  int seen_ = 0;  // trials with a fault that match the filter
  int runs_ = 0;
  int broken_ = 0;
};

}  // namespace

int run_single_faults(const std::string& filter, int every, std::uint64_t seed, bool trace) {
  trials all(filter, every, seed, trace);
  progress_line shown;
  std::size_t done = 0;
  for (const auto& each : scripts()) {
    shown.show(static_cast<double>(done++) / static_cast<double>(scripts().size()), each.name);
    for (bool in_company : {false, true}) {
      if (in_company && !each.uses_line) continue;
      for (auto lease : {lease_mode::standard, lease_mode::strict}) all.run(each, in_company, lease);
    }
  }
  shown.clear();
  std::printf("single faults         %d runs of %zu operations, %d broken\n", all.runs(), scripts().size(),
              all.broken());
  return all.broken() ? 1 : 0;
}

std::optional<std::string> try_any_fault(std::uint64_t seed) {
  chance draw(seed, single_fault_stream);
  const auto& what = scripts()[draw.below(scripts().size())];
  const bool in_company = what.uses_line && draw.one_in(2);
  const auto lease = draw.one_in(2) ? lease_mode::strict : lease_mode::standard;
  trial undisturbed{&what, in_company, step_fault::none, 0, 0, {}};
  auto result = perform(undisturbed, lease, seed, false);
  if (result.broken) return line_of(trial_name(undisturbed, lease), *result.broken, seed);
  if (undisturbed.steps == 0) return std::nullopt;
  const auto kind = static_cast<step_fault>(1 + draw.below(step_faults - 1));
  const auto step = static_cast<int>(1 + draw.below(static_cast<std::uint64_t>(undisturbed.steps)));
  trial one{&what, in_company, kind, step, 0, {}};
  result = perform(one, lease, seed, false);
  if (!result.broken) return std::nullopt;
  return line_of(trial_name(one, lease), *result.broken, seed);
}

}  // namespace zkrecipes::simulation
