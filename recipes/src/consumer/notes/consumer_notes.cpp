#include "notes/consumer_notes.hpp"

#include <algorithm>
#include <chrono>

#include "limit/arrival_rule.hpp"

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

namespace {

using std::chrono::microseconds;

constexpr std::int64_t most_crashes = 1'000'000;
constexpr auto highest_level = std::chrono::ceil<microseconds>(longest_level);

/// Whether the term before has not ended by an act of its leader.
bool is_by_force(takeover how) { return how == takeover::forced || how == takeover::died; }

}  // namespace

json_object to_json(const consumer_notes& notes) {
  json_object all;
  if (notes.empty()) return all;
  all.set("crashes", notes.crashes);
  if (!notes.in_hand.empty()) all.set("in_hand", notes.in_hand);
  if (notes.figures != json_object()) all.set("figures", notes.figures);
  // Rounded up: the successor must not get more credit than there is.
  if (notes.limit_level) all.set("limit_level_us", std::chrono::ceil<microseconds>(*notes.limit_level).count());
  return all;
}

consumer_notes read_notes(const json_object& from) {
  consumer_notes notes;
  notes.crashes = static_cast<std::int32_t>(from.integer("crashes", 0, most_crashes).value_or(0));
  notes.in_hand = from.texts("in_hand").value_or(std::vector<std::string>());
  notes.figures = from.object("figures").value_or(json_object());
  const auto level = from.integer("limit_level_us", 0, highest_level.count());
  if (level) notes.limit_level = microseconds(*level);
  return notes;
}

/// Crashes are counted until a term has settled something. A predecessor that died may have died of a message that it
/// named. It may also have used all of its limit, so the level of a forced term is not known.
json_object next_notes(const term_record& before, takeover how) {
  const auto left = read_notes(before.notes);
  consumer_notes next;
  next.crashes = left.crashes;
  next.in_hand = left.in_hand;
  if (!is_by_force(how)) {
    next.limit_level = left.limit_level;
    return to_json(next);
  }
  const auto last_phase = before.phase == term_phase::died ? before.died_in : before.phase;
  const bool was_at_work = last_phase == term_phase::executing || last_phase == term_phase::handing_over;
  if (was_at_work && next.crashes < most_crashes) ++next.crashes;
  return to_json(next);
}

/// The messages in hand may be settled by that write, and the level of the limit is another one.
bool may_change_unread(const json_object& notes) {
  const auto seen = read_notes(notes);
  return seen.crashes != 0 || !seen.in_hand.empty() || seen.limit_level;
}

}  // namespace zkrecipes::detail
