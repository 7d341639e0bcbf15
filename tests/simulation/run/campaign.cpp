#include "run/campaign.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
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

namespace {

struct regression {
  const char* protects;
  const char* scenario;
  std::uint64_t seed;
};

// The seeds that found these bugs. tests/planted puts bugs of the library back, one by one, and shows that the search
// still finds them.
constexpr regression regressions[] = {
    {"no heartbeat while the session is being closed, tried again without a pause", "election", 3},
    {"no heartbeat while the session is being closed, of a leader", "coordinator", 6033},
    {"a leader that retires stops believing when it asks, not when it hears", "coordinator", 9535},
    {"a barrier's wait does not believe an event that is older than its look", "barrier", 653},
    {"a taker whose clock is fast gets its turn at delayed items", "queue", 3036},
    {"an item rejected while its session ends is superseded", "queue", 1606},
    {"a number that was drawn for an item goes also when the item has gone by itself", "queue", 10218},
    {"unregistering while the session ends is no error", "discovery", 2868},
    {"a value whose making was not answered is not made again", "shared_value", 24},
    {"a node of a double barrier that is made again is another member", "double_barrier", 7028455},
    {"a node of a double barrier that is made again keeps nobody of the round before", "double_barrier", 50000231},
    {"a commit that is refused because the session has ended is no failure of the career", "coordinator", 6721},
    {"a claim that an operator removed is not taken for an acknowledgement", "queue", 7242319},
    {"an item is handed out at most once, also where a claim was removed by hand", "queue", 2426},
    {"tickets of a queue with a limit belong to the session that they were drawn in", "queue", 88},
    {"an acknowledgement that was done is done although the item was taken again", "queue", 1454},
    {"a term that was cut short is not taken for handed over by one who saw its leader hand over", "coordinator",
     300095009},
    {"who is let in at once tells those behind it that saw it wait", "semaphore", 600176584},
    {"a later request to release does not lengthen an earlier grace", "lock", 7114079},
    {"a hand-over's commit does not end the search for the message that kills", "coordinator", 9002729},
    {"a strict lease on a line with few round trips to the timeout", "line", 1121},
    {"a member's node that is overwritten with the same text again is restored again", "shards", 60006274},
    {"a leader whose lease has lapsed leaves the line as it retires", "topic", 1010002314},
    {"a process that a message kills while the clients are stopped is stopped when it is back", "coordinator",
     1020049579},
    {"a message that was found again while its key rested, because of a lost reply, goes on", "coordinator",
     3100136383},
    {"what waits behind a message of its key is read again when that has gone while it rested", "coordinator",
     5100032241},
    {"a term that goes by a removed record by chance tells of its own deaths", "shards", 5100164776},
    {"a career's failure counts although what it had committed is executed later", "shards", 5300031616},
    {"nothing is owed while a node stands that a call has made after it was cancelled", "shared_gate", 5100197998},
    {"a taker that meets a pop of its own earlier session begins anywhere near the front", "queue", 5600551644},
    {"puts of a producer that were cancelled on the way go on behind one another", "queue", 5600641664},
    {"a shard of a frozen group that all members want to leave waits without an owner", "shards", 6200014516},
    {"what is left of a balance is removed, too, if a deposed leader has removed a part", "shared_balance", 6300013839},
    {"no shard waits for a member whose successor is there, and drains", "shards", 6200254596},
    {"a message that a call took along is stalled by its own begin", "coordinator", 4941},
    {"a candidate enters its line again when its strict lease holds again, not before", "rabbit", 40},
    {"what was read from a stream is missed although its position was read anew since", "redis", 9100045513},
    {"an item whose put has ended without a connection is not sent again", "coordinator", 984601366},
    {"at most once: what is removed before it is processed does not hold back a probe", "coordinator", 19861},
    {"an acknowledgement that ends without a connection is told the truth when it is repeated", "queue", 9700001204},
};

}  // namespace

int run_regressions() {
  int broken = 0;
  for (const auto& each : regressions) {
    campaign_options options;
    options.scenario = each.scenario;
    options.first = each.seed;
    std::printf("%s:\n", each.protects);
    broken += run_one(options);
  }
  return broken > 0 ? 1 : 0;
}

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
