#include "phases.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace demo {

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

phase_mark mark_of_process(std::string consumer, std::string what) {
  return {monotonic_ns(), std::move(consumer), 0, std::move(what), false};
}

std::vector<phase_mark> read_phases(const std::filesystem::path& folder) {
  std::vector<phase_mark> marks;
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(each.path());
    phase_mark mark;
    for (std::string what; in >> mark.time_ns >> mark.consumer >> mark.epoch >> mark.phase >> what >> mark.shard;) {
      mark.begins = what == "begins";
      marks.push_back(mark);
    }
  }
  std::stable_sort(marks.begin(), marks.end(),
                   [](const phase_mark& a, const phase_mark& b) { return a.time_ns < b.time_ns; });
  return marks;
}

namespace {

/// A phase, for as long as it surely went on.
struct stay {
  std::string consumer;
  std::uint32_t shard = 0;
  std::int64_t epoch = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::max();

  bool has_inside(const stay& other) const {
    return shard == other.shard && epoch != other.epoch && begin_ns <= other.begin_ns && other.begin_ns < end_ns;
  }
};

/// Follows the phases of all processes.
class phase_ledger {
 public:
  void add(const phase_mark& mark);
  std::vector<stay> phases() && { return std::move(all_); }

 private:
  using place = std::pair<std::string, std::uint32_t>;  // consumer and shard

  void interrupt(const std::string& consumer);

  std::vector<stay> all_;
  std::map<place, std::size_t> open_;             // indices
  std::map<std::string, std::int64_t> lived_ns_;  // until when each process surely lived
  std::set<std::string> asleep_;
};

/// The phases that go on have an end that nobody has noted.
void phase_ledger::interrupt(const std::string& consumer) {
  const auto first = open_.lower_bound({consumer, 0});
  auto last = first;
  for (; last != open_.end() && last->first.first == consumer; ++last) all_[last->second].end_ns = lived_ns_[consumer];
  open_.erase(first, last);
}

void phase_ledger::add(const phase_mark& mark) {
  if (mark.phase == awake) asleep_.erase(mark.consumer);
  if (mark.epoch || mark.phase == cut || mark.phase == lived || mark.phase == asleep)
    lived_ns_[mark.consumer] = mark.time_ns;
  if (mark.phase == silenced || mark.phase == started || mark.phase == asleep) interrupt(mark.consumer);
  if (mark.phase == asleep) asleep_.insert(mark.consumer);
  if (mark.phase == started) asleep_.erase(mark.consumer);
  if (!mark.epoch) return;
  const auto own = open_.find({mark.consumer, mark.shard});
  if (own != open_.end()) {
    all_[own->second].end_ns = mark.time_ns + (mark.begins ? 1 : 0);  // one without an end goes on beside the next
    open_.erase(own);
  }
  if (!mark.begins || asleep_.contains(mark.consumer)) return;
  open_[{mark.consumer, mark.shard}] = all_.size();
  all_.push_back({mark.consumer, mark.shard, mark.epoch, mark.time_ns});
}

}  // namespace

std::uint64_t count_overlaps(const std::vector<phase_mark>& marks) {
  phase_ledger ledger;
  for (const auto& each : marks) ledger.add(each);
  const auto phases = std::move(ledger).phases();
  std::map<std::uint32_t, std::vector<const stay*>> before;  // of each shard: those that may still go on
  std::uint64_t overlaps = 0;
  for (const auto& each : phases) {
    auto& others = before[each.shard];
    std::erase_if(others, [&](const stay* other) { return other->end_ns <= each.begin_ns; });
    for (const auto* other : others) overlaps += other->has_inside(each);
    others.push_back(&each);
  }
  return overlaps;
}

}  // namespace demo
