// Runs the simulation: searches seeds for schedules in which a rule is broken.
#include <chrono>

#include <CLI/CLI.hpp>

#include "run/campaign.hpp"
#include "run/exhaustive.hpp"
#include "run/scenarios.hpp"

int main(int argc, char** argv) {
  using namespace zkrecipes::simulation;
  CLI::App app("Runs the library on a simulated ensemble: many seeds, or one again.", "zkrecipes-simulate");
  campaign_options options;
  std::uint64_t one = 0;
  app.add_option("--scenario", options.scenario, "One of them, or all in turn")
      ->check(CLI::IsMember(scenario_names()))
      ->capture_default_str();
  auto* seeds = app.add_option("--seeds", options.seeds, "How many seeds")->capture_default_str();
  auto* first = app.add_option("--first", options.first, "The first of them")->capture_default_str();
  app.add_option("--jobs", options.jobs, "Processes at work")->check(CLI::Range(1, 64))->capture_default_str();
  auto* single = app.add_option("--seed", one, "Run this seed only");
  app.add_option("--faults", options.only_faults, "Of the seed's faults keep these only, as in 0,3,7 (- for none)");
  app.add_flag("--trace", options.trace, "Print what happens (with --seed)");
  std::string trials;
  auto* single_faults = app.add_option("--single-faults", trials,
                                       "Instead: every operation, failing at every step in every way; with a name "
                                       "only those trials that contain it")
                            ->expected(0, 1);
  int every = 1;
  app.add_option("--one-in", every, "Of the trials of --single-faults so many")
      ->check(CLI::Range(1, 1000))
      ->needs(single_faults);
  bool regressions = false;
  app.add_flag("--regressions", regressions, "Instead: the runs that have found something before");
  bool searches = false;
  app.add_flag("--search", searches,
               "Instead: fresh seeds over all scenarios and single faults for some time, past every finding");
  int minutes = 10;
  app.add_option("--minutes", minutes, "The time of --search")->check(CLI::Range(1, 10'000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (searches) {
    search_options all{options.scenario, std::chrono::minutes(minutes), 0, 0, options.jobs};
    if (first->count() > 0) all.first = options.first;
    if (seeds->count() > 0) all.seeds = options.seeds;
    return run_search(all);
  }
  if (single_faults->count() > 0) return run_single_faults(trials, every, single->count() > 0 ? one : 1, options.trace);
  if (regressions) return run_regressions();
  if (single->count() > 0) {
    options.first = one;
    return run_one(options);
  }
  return run_campaign(options);
}
