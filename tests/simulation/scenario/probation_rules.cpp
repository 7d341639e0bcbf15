#include "scenario/probation_rules.hpp"

#include <algorithm>

#include "notes/consumer_notes.hpp"

namespace zkrecipes::simulation {

namespace {

/// A term whose lease ends in between can begin its probation anew, so the limit leaves room for that.
constexpr std::size_t most_probations = 3;

}  // namespace

void probation_rules::recorded(const detail::term_record& record) {
  const bool is_new_term = record.epoch != epoch_;
  if (is_new_term) {
    settled_ = 0;
    named_.clear();
  }
  epoch_ = record.epoch;
  const auto notes = detail::read_notes(record.notes);
  const auto doublings = std::clamp(notes.crashes - 2, 0, 12);
  const auto most = most_probations * (length_ << doublings);
  for (const auto& each : notes.in_hand) {
    const bool is_new = named_.insert(each).second && !is_new_term && !counted_.contains(each);
    in_.require(!is_new || settled_ < most, "probation ends", each);
  }
}

}  // namespace zkrecipes::simulation
