#include "run/campaign.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "run/finding.hpp"
#include "run/progress_line.hpp"
#include "run/scenarios.hpp"

namespace zkrecipes::simulation {

namespace {

struct totals {
  std::uint64_t seeds = 0;
  std::uint64_t faults = 0;
  std::uint64_t requests = 0;
  std::uint64_t replayed = 0;
  instant virtual_time{0};
  std::array<std::uint64_t, fault_kinds> by_kind{};
  span overlap_standard{0};
  span overlap_strict{0};

  void add(const outcome& one) {
    ++seeds;
    requests += one.requests;
    virtual_time += one.virtual_time;
    for (std::size_t i = 0; i < by_kind.size(); ++i) by_kind[i] += one.faults[i], faults += one.faults[i];
    overlap_standard = std::max(overlap_standard, one.overlap_standard);
    overlap_strict = std::max(overlap_strict, one.overlap_strict);
  }
};

double seconds(span s) { return std::chrono::duration<double>(s).count(); }

void print(const totals& sum, span took) {
  std::printf("seeds                 %llu (%.0f per second)\n", static_cast<unsigned long long>(sum.seeds),
              static_cast<double>(sum.seeds) / seconds(took));
  std::printf("virtual time          %.1f days\n", seconds(sum.virtual_time) / 86400);
  std::printf("requests              %llu\n", static_cast<unsigned long long>(sum.requests));
  std::printf("replayed for hash     %llu\n", static_cast<unsigned long long>(sum.replayed));
  std::puts("where no operator takes a node or a session from its owner:");
  std::printf("largest belief overlap, standard lease  %.3f s\n", seconds(sum.overlap_standard));
  std::printf("largest belief overlap, strict lease    %.3f s\n", seconds(sum.overlap_strict));
  std::printf("faults                %llu\n", static_cast<unsigned long long>(sum.faults));
  for (int i = 0; i < fault_kinds; ++i) {
    std::printf("  %-18s  %llu\n", to_string(static_cast<fault_kind>(i)),
                static_cast<unsigned long long>(sum.by_kind[static_cast<std::size_t>(i)]));
  }
}

}  // namespace

int run_campaign(const campaign_options& options) {
  const auto began = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> next = options.first;
  std::mutex mutex;
  progress_line shown;
  totals sum;
  std::map<std::uint64_t, violation> broken;
  std::atomic<bool> failed = false;
  auto work = [&] {
    for (;;) {
      const auto seed = next++;
      if (seed >= options.first + options.seeds || failed) return;
      const auto what = make_plan(seed);
      const auto& which = pick_scenario(options.scenario, seed);
      auto one = simulate(what, which.make, false);
      if (!one.broken && seed % 100 == 0 && simulate(what, which.make, false).hash != one.hash) {
        one.broken = {"same seed, same trace", "the second run differed"};
      }
      std::lock_guard lock(mutex);
      sum.add(one);
      shown.show(static_cast<double>(sum.seeds) / static_cast<double>(options.seeds),
                 std::to_string(sum.seeds) + " seeds");
      if (seed % 100 == 0) ++sum.replayed;
      if (one.broken) broken.emplace(seed, *one.broken), failed = true;
    }
  };
  std::vector<std::thread> workers;
  for (int i = 1; i < options.jobs; ++i) workers.emplace_back(work);
  work();
  for (auto& each : workers) each.join();
  shown.clear();
  // Seeds are started in order, so the lowest broken one is the same in every run, whatever the number of jobs.
  if (failed) {
    const auto& [seed, first] = *broken.begin();
    std::fputs(describe(shrunk(make_plan(seed), pick_scenario(options.scenario, seed), first)).c_str(), stdout);
  }
  print(sum, std::chrono::steady_clock::now() - began);
  return failed ? 1 : 0;
}

int run_one(const campaign_options& options) {
  auto what = make_plan(options.first);
  if (!options.only_faults.empty()) {
    std::vector<fault> kept;
    std::istringstream list(options.only_faults == "-" ? "" : options.only_faults);
    for (std::string item; std::getline(list, item, ',');) {
      const auto index = static_cast<std::size_t>(std::stoul(item));
      if (index < what.faults.size()) kept.push_back(what.faults[index]);
    }
    what.faults = std::move(kept);
  }
  const auto& which = pick_scenario(options.scenario, options.first);
  const auto one = simulate(what, which.make, options.trace);
  std::printf("seed %llu, scenario %s, hash %016llx\n", static_cast<unsigned long long>(what.seed), which.name,
              static_cast<unsigned long long>(one.hash));
  std::printf("timeout %lld ms, tick %.1f s, sync limit %d, %s lease\n", static_cast<long long>(what.timeout.count()),
              seconds(what.servers.tick), what.servers.sync_limit,
              what.lease == lease_mode::strict ? "strict" : "standard");
  for (const auto& each : what.faults) std::printf("%s\n", to_string(each).c_str());
  if (one.broken) std::printf("broke \"%s\": %s\n", one.broken->invariant.c_str(), one.broken->detail.c_str());
  return one.broken ? 1 : 0;
}

}  // namespace zkrecipes::simulation
