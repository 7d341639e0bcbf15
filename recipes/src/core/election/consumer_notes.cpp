#include "election/consumer_notes.hpp"

#include <chrono>

#include "format/longest_times.hpp"

namespace zkrecipes::detail {

namespace {

using std::chrono::microseconds;

constexpr std::int64_t most_crashes = 1'000'000;
constexpr auto highest_level = std::chrono::ceil<microseconds>(longest_level);

}  // namespace

json_object to_json(const consumer_notes& notes, std::int64_t epoch) {
  json_object field;
  field.set("epoch", epoch).set("crashes", notes.crashes);
  if (!notes.in_hand.empty()) field.set("in_hand", notes.in_hand);
  if (notes.figures != json_object()) field.set("figures", notes.figures);
  // Rounded up: the successor must not get more credit than there is.
  if (notes.limit_level) field.set("limit_level_us", std::chrono::ceil<microseconds>(*notes.limit_level).count());
  return field;
}

consumer_notes read_notes(const json_object& field, std::int64_t epoch) {
  consumer_notes notes;
  if (field.integer("epoch") != epoch) return notes;
  notes.crashes = static_cast<std::int32_t>(field.integer("crashes", 0, most_crashes).value_or(0));
  notes.in_hand = field.texts("in_hand").value_or(std::vector<std::string>());
  notes.figures = field.object("figures").value_or(json_object());
  const auto level = field.integer("limit_level_us", 0, highest_level.count());
  if (level) notes.limit_level = microseconds(*level);
  return notes;
}

}  // namespace zkrecipes::detail
