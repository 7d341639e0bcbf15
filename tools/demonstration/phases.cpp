#include "phases.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace demo {

namespace {

/// Follows the terms of all shards through the marks.
class term_ledger {
 public:
  explicit term_ledger(const std::vector<std::int64_t>& epochs) : epochs_(epochs) {}

  void add(const phase_mark& mark);
  move_counts close();

 private:
  struct open_term {
    std::int64_t epoch = 0;
    bool is_hit = false;  // its process was stopped, killed or cut off
  };
  using place = std::pair<std::string, std::uint32_t>;  // consumer and shard

  void record_process(const phase_mark& mark);
  void begin(const phase_mark& mark);
  void end(const phase_mark& mark);
  void count_end(const open_term& which);

  const std::vector<std::int64_t>& epochs_;
  std::map<place, open_term> open_;
  std::set<std::string> leaving_;
  std::uint64_t begun_ = 0;
  move_counts found_;
};

bool is_end(const phase_mark& mark) {
  static const std::set<std::string> reasons{"resigned", "revoked", "suspended", "lost",
                                             "stalled",  "failed",  "superseded"};
  return reasons.count(mark.phase) > 0;
}

void term_ledger::add(const phase_mark& mark) {
  if (!mark.epoch) {
    record_process(mark);
  } else if (mark.phase == "inaugurate" && mark.begins) {
    begin(mark);
  } else if (is_end(mark)) {
    end(mark);
  }
}

void term_ledger::record_process(const phase_mark& mark) {
  if (mark.phase == leaves) leaving_.insert(mark.consumer);
  if (mark.phase == started) leaving_.erase(mark.consumer);
  if (mark.phase != silenced && mark.phase != cut) return;
  for (auto each = open_.lower_bound({mark.consumer, 0}); each != open_.end() && each->first.first == mark.consumer;
       ++each) {
    each->second.is_hit = true;
  }
}

void term_ledger::begin(const phase_mark& mark) {
  ++begun_;
  auto& own = open_[{mark.consumer, mark.shard}];
  if (own.epoch) count_end(own);
  own = {mark.epoch, false};
}

void term_ledger::end(const phase_mark& mark) {
  const auto found = open_.find({mark.consumer, mark.shard});
  if (found == open_.end() || found->second.epoch != mark.epoch) return;
  const bool is_lost = mark.phase == "lost" || mark.phase == "superseded" || mark.phase == "suspended";
  if (mark.phase == "resigned") {
    ++(leaving_.count(mark.consumer) ? found_.left : found_.rebalanced);
  } else {
    ++(is_lost && found->second.is_hit ? found_.lost : found_.unexplained);
  }
  open_.erase(found);
}

/// A term whose process has not logged its end.
void term_ledger::count_end(const open_term& which) { ++(which.is_hit ? found_.died : found_.unexplained); }

move_counts term_ledger::close() {
  for (const auto& [where, each] : open_) {
    if (where.second >= epochs_.size() || epochs_[where.second] != each.epoch) count_end(each);
  }
  std::uint64_t terms = 0;
  for (const auto epoch : epochs_) {
    terms += static_cast<std::uint64_t>(epoch);
    if (epoch > 0) found_.moves += static_cast<std::uint64_t>(epoch - 1);
  }
  if (terms > begun_) found_.unseen = terms - begun_;
  return found_;
}

}  // namespace

move_counts count_moves(const std::vector<phase_mark>& marks, const std::vector<std::int64_t>& epochs,
                        const std::vector<std::size_t>& joins) {
  term_ledger ledger(epochs);
  for (const auto& each : marks) ledger.add(each);
  auto found = ledger.close();
  found.bound = found.died + found.left + found.lost + found.unseen;
  // The first member takes the shards of nobody.
  for (const auto members : joins) {
    if (members > 1) found.bound += (epochs.size() + members - 1) / members;
  }
  return found;
}

phase_log::phase_log(const std::filesystem::path& file) : out_(file, std::ios::app) {
  if (!out_) throw std::runtime_error("cannot write " + file.string());
}

void phase_log::record(const phase_mark& what) {
  out_ << what.time_ns << ' ' << what.consumer << ' ' << what.epoch << ' ' << what.phase << ' '
       << (what.begins ? "begins" : "ends") << ' ' << what.shard << std::endl;
}

bool phase_log::record_sleep(const std::string& consumer) {
  const auto since = find_sleep_ ? find_sleep_() : std::nullopt;
  if (since) record({*since, consumer, 0, asleep, false});
  return since.has_value();
}

void phase_log::look(const std::string& consumer) {
  if (record_sleep(consumer)) record(mark_of_process(consumer, awake));
}

/// What follows a sleep at once was decided before it.
void phase_log::record_now(phase_mark what) {
  const bool has_slept = record_sleep(what.consumer);
  what.time_ns = monotonic_ns();
  record(what);
  if (has_slept) record(mark_of_process(what.consumer, awake));
}

std::shared_ptr<void> phase_log::begins(phase_mark what) {
  what.begins = true;
  record_now(what);
  return std::shared_ptr<void>(nullptr, [this, what](void*) mutable {
    what.begins = false;
    record_now(what);
  });
}

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
