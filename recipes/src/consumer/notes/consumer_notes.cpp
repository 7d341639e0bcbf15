#include "notes/consumer_notes.hpp"

#include <chrono>

#include "limit/arrival_rule.hpp"

namespace zkrecipes::detail {

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
