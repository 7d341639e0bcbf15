#include "notes/term_notes.hpp"

#include <algorithm>

namespace zkrecipes::detail {

namespace {

/// A record that somebody has emptied leads to another first term. Its version tells that it was written before.
constexpr std::int32_t version_of_first_write = 1;

}  // namespace

term_notes::term_notes(const term_record& record, std::int32_t version, core_ptr session, condition& changed)
    : session_(std::move(session)),
      changed_(changed),
      has_all_credit_(record.how == takeover::first && version == version_of_first_write) {
  auto left = read_notes(record.notes);
  suspects_ = left.in_hand;
  // Only the last writes of a term tell the level: until then nobody can use it.
  if (auto level = std::exchange(left.limit_level, std::nullopt)) limit_arrival_ = session_->now() + *level;
  written_ = to_json(left);
}

/// If the term has made progress, the search for a message that kills begins anew, but for messages whose attempt is
/// not counted yet. A successor takes `handing_over` for `retired`, unread, only if it names no message and no level;
/// then both say the same.
json_object term_notes::at(term_phase phase) const {
  if (phase == term_phase::inaugurating || phase == term_phase::executing) return written_;
  auto notes = read_notes(written_);
  notes.in_hand = suspects_;
  if (phase == term_phase::handing_over) notes.in_hand.insert(notes.in_hand.end(), in_hand_.begin(), in_hand_.end());
  if (phase == term_phase::stalled) return to_json(notes);
  if (has_progressed_) notes.crashes = 0;
  notes.limit_level = limit_level();
  return to_json(notes);
}

consumer_notes term_notes::present() const {
  auto notes = read_notes(written_);
  notes.in_hand = suspects_;
  return notes;
}

void term_notes::set_suspects(std::vector<std::string> suspects, std::vector<std::string> in_hand) {
  suspects_ = std::move(suspects);
  in_hand_ = std::move(in_hand);
}

void term_notes::record_progress() {
  if (!std::exchange(has_progressed_, true)) changed_.notify();
}

void term_notes::set_limit_arrival(std::optional<lease_clock::time_point> when) noexcept {
  limit_arrival_ = when;
  has_all_credit_ = false;
}

/// Counted from now. The successor counts it from when it begins, which is later.
std::optional<lease_clock::duration> term_notes::limit_level() const {
  if (!limit_arrival_) return std::nullopt;
  return std::max(*limit_arrival_ - session_->now(), lease_clock::duration::zero());
}

}  // namespace zkrecipes::detail
