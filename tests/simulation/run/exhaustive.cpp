#include "run/exhaustive.hpp"

#include "run/stage.hpp"
#include "scenario/single_fault.hpp"

#include <cstdio>

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

plan make_quiet_plan(bool in_company, lease_mode lease) {
  plan p;
  p.seed = 1;
  p.clients = in_company ? 3 : 1;
  p.timeout = 6s;
  p.lease = lease;
  p.parts_per_million.assign(static_cast<std::size_t>(p.clients), 0);
  p.faults_from = p.faults_until = 10s;
  p.takes_leases = true;
  return p;
}

class trials {
 public:
  trials(const std::string& filter, int every, bool trace) : filter_(filter), every_(every), trace_(trace) {}

  /// Without a fault, to count the steps, then with each kind at each of them.
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
    const std::string name = one.what->name + (one.in_company ? "/company" : "/alone") +
                             (lease == lease_mode::strict ? "/strict/" : "/standard/") + to_string(one.kind) +
                             '/' + std::to_string(one.step);
    const bool chosen = name.find(filter_) != name.npos;
    const bool faulty = one.kind != step_fault::none;
    if (faulty && (!chosen || ++seen_ % every_ != 0)) return;
    const auto make = [&one](stage& in) { return make_single_fault(in, one); };
    const auto result = simulate(make_quiet_plan(one.in_company, lease), make, trace_ && chosen);
    ++runs_;
    if (trace_ && chosen)
      std::printf("%s: %d steps, \"%s\"\n", name.c_str(), one.steps, one.end.message().c_str());
    if (!result.broken) return;
    ++broken_;
    std::printf("%s broke \"%s\": %s\nagain: zkrecipes-simulate --single-faults '%s' --trace\n", name.c_str(),
                result.broken->invariant.c_str(), result.broken->detail.c_str(), name.c_str());
  }

  std::string filter_;
  int every_;
  bool trace_;
  int seen_ = 0;  // with a fault, and chosen
  int runs_ = 0;
  int broken_ = 0;
};

}  // namespace

int run_single_faults(const std::string& filter, int every, bool trace) {
  trials all(filter, every, trace);
  for (const auto& each : scripts()) {
    for (bool in_company : {false, true}) {
      if (in_company && !each.uses_line) continue;
      for (auto lease : {lease_mode::standard, lease_mode::strict}) all.run(each, in_company, lease);
    }
  }
  std::printf("single faults         %d runs of %zu operations, %d broken\n", all.runs(), scripts().size(),
              all.broken());
  return all.broken() ? 1 : 0;
}

}  // namespace zkrecipes::simulation
