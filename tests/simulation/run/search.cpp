#include "run/search.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "run/exhaustive.hpp"
#include "run/finding.hpp"
#include "run/scenarios.hpp"

namespace zkrecipes::simulation {

namespace {

using clock = std::chrono::steady_clock;

constexpr const char* single_faults = "single faults";

/// Ten thousand times the time in seconds: two searches of one day share no seeds, and the number stays readable.
std::uint64_t fresh_seed() { return static_cast<std::uint64_t>(std::time(nullptr)) * 10'000; }

class search {
 public:
  explicit search(const search_options& options)
      : first_(options.first == 0 ? fresh_seed() : options.first),
        most_(options.seeds),
        limit_(options.limit),
        until_(clock::now() + options.limit) {
    for (const auto& each : scenarios()) {
      if (options.scenario == "all" || options.scenario == each.name) chosen_.push_back(&each);
    }
    strikes_ = options.scenario == "all";
  }

  int run(int jobs) {
    std::vector<std::thread> workers;
    for (int i = 1; i < jobs; ++i) workers.emplace_back([this] { work(); });
    work();
    for (auto& each : workers) each.join();
    shown_.clear();
    print();
    return findings_ == 0 ? 0 : 1;
  }

 private:
  void work();
  void try_one(std::uint64_t index);
  void note(const char* name, const std::optional<std::string>& found);
  void print() const;
  bool is_over(std::uint64_t index) const { return clock::now() >= until_ || (most_ != 0 && index >= most_); }
  std::size_t parts() const { return chosen_.size() + (strikes_ ? 1 : 0); }
  double part_done() const;

  std::uint64_t first_;
  std::uint64_t most_;
  std::chrono::minutes limit_;
  clock::time_point until_;
  clock::time_point began_ = clock::now();
  std::vector<const named_scenario*> chosen_;
  bool strikes_ = false;
  std::atomic<std::uint64_t> next_ = 0;

  std::mutex mutex_;  // guards the members below
  progress_line shown_;
  struct tally {
    std::uint64_t seeds = 0;
    std::uint64_t findings = 0;
  };
  std::map<std::string, tally> by_name_;
  std::uint64_t done_ = 0;
  std::uint64_t findings_ = 0;
};

void search::work() {
  for (auto index = next_++; !is_over(index); index = next_++) try_one(index);
}

/// The parts (the scenarios and the single faults) take turns with each seed, so that each gets the same share at any
/// time.
void search::try_one(std::uint64_t index) {
  const auto seed = first_ + index / parts();
  const auto part = index % parts();
  if (part == chosen_.size()) return note(single_faults, try_any_fault(seed));
  const auto& which = *chosen_[part];
  auto what = make_plan(seed);
  const auto one = simulate(what, which.make, false);
  std::optional<std::string> line;
  if (one.broken) {
    const auto found = shrunk(std::move(what), which, *one.broken);
    line = std::string(which.name) + ": seed " + std::to_string(seed) + " broke \"" + found.broken.invariant +
           "\": " + found.broken.detail + "; again: " + again(found);
  }
  note(which.name, line);
}

void search::note(const char* name, const std::optional<std::string>& found) {
  std::lock_guard lock(mutex_);
  auto& sum = by_name_[name];
  ++sum.seeds;
  ++done_;
  if (found) {
    ++sum.findings;
    ++findings_;
    shown_.clear();
    std::printf("%s\n", found->c_str());
    std::fflush(stdout);
  }
  shown_.show(part_done(), std::to_string(done_) + " seeds, " + std::to_string(findings_) + " findings");
}

double search::part_done() const {
  const double of_time = std::chrono::duration<double>(clock::now() - began_) / limit_;
  const double of_seeds = most_ == 0 ? 0 : static_cast<double>(done_) / static_cast<double>(most_);
  return std::min(1.0, std::max(of_time, of_seeds));
}

void search::print() const {
  const auto last = first_ + (done_ == 0 ? 0 : (done_ - 1) / parts());
  std::printf("seeds %llu to %llu of each:\n", static_cast<unsigned long long>(first_),
              static_cast<unsigned long long>(last));
  for (const auto& [name, sum] : by_name_) {
    std::printf("  %-18s %8llu seeds  %llu findings\n", name.c_str(), static_cast<unsigned long long>(sum.seeds),
                static_cast<unsigned long long>(sum.findings));
  }
  std::printf("%llu seeds, %llu findings, %.0f s\n", static_cast<unsigned long long>(done_),
              static_cast<unsigned long long>(findings_), std::chrono::duration<double>(clock::now() - began_).count());
}

}  // namespace

int run_search(const search_options& options) { return search(options).run(options.jobs); }

}  // namespace zkrecipes::simulation
