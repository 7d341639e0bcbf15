#include "delivery/probation.hpp"

#include <algorithm>

namespace zkrecipes::detail {

namespace {

constexpr std::int32_t crashes_before_probation = 2;

}  // namespace

probation::probation(const consumer_notes& notes, std::size_t length)
    : crashes_(notes.crashes),
      left_(notes.crashes >= crashes_before_probation ? length : 0),
      suspects_(notes.in_hand.begin(), notes.in_hand.end()) {}

consumer_notes probation::notes_with(const std::set<std::string>& settled) const {
  std::set<std::string> in_hand = suspects_;
  in_hand.insert(named_.begin(), named_.end());
  in_hand.insert(wanted_.begin(), wanted_.end());
  for (const auto& each : settled) in_hand.erase(each);
  consumer_notes notes;
  notes.crashes = crashes_;
  notes.in_hand.assign(in_hand.begin(), in_hand.end());
  return notes;
}

void probation::written(const consumer_notes& notes) {
  named_ = {notes.in_hand.begin(), notes.in_hand.end()};
  for (const auto& each : notes.in_hand) wanted_.erase(each);
  is_stale_ = notes.crashes != crashes_;
}

void probation::settled(const std::string& name) {
  is_stale_ = is_stale_ || named_.contains(name) || suspects_.contains(name);
  suspects_.erase(name);
  named_.erase(name);
  wanted_.erase(name);
  if (left_ > 0) --left_;
  if (left_ > 0 || crashes_ == 0) return;
  crashes_ = 0;  // this term has finished something, so the next crash is the first one again
  is_stale_ = true;
}

}  // namespace zkrecipes::detail
