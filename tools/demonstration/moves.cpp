#include "moves.hpp"

#include <map>
#include <set>
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

}  // namespace demo
