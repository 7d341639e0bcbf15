#include "delivery/probation.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::int32_t crashes_before_probation = 2;

}  // namespace

probation::probation(const consumer_notes& notes, std::size_t length)
    : crashes_(notes.crashes),
      left_(notes.crashes >= crashes_before_probation ? length : 0),
      suspects_(notes.in_hand.begin(), notes.in_hand.end()),
      written_(suspects_) {}

void probation::begun(const std::string& name) {
  announced_.clear();
  if (is_named(name)) in_hand_.insert(name);
}

void probation::settled(const std::string& name) {
  suspects_.erase(name);
  in_hand_.erase(name);
  if (left_ > 0) --left_;
}

probation::names probation::present(const names& settled) const {
  auto all = suspects_;
  all.insert(in_hand_.begin(), in_hand_.end());
  if (!announced_.empty()) all.insert(announced_);
  for (const auto& each : settled) all.erase(each);
  return all;
}

consumer_notes probation::notes_with(const names& settled) const {
  const auto in_hand = present(settled);
  consumer_notes notes;
  notes.crashes = crashes_;
  notes.in_hand.assign(in_hand.begin(), in_hand.end());
  return notes;
}

void probation::written(const consumer_notes& notes) { written_ = {notes.in_hand.begin(), notes.in_hand.end()}; }

}  // namespace zkrecipes::detail
