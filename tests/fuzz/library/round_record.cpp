// The record of a double barrier and, in the lines behind it, names of its members.
#include "barrier/round_record.hpp"

#include "fuzz/target.hpp"
#include "line/line_spec.hpp"

namespace fuzz::round_record_target {

using namespace zkrecipes::detail;

void read_round(std::string_view input) {
  const auto lines = lines_of(input);
  const auto record = parse_round(lines.front());
  if (record) {
    require(record->round >= 0 && record->round <= last_round, "the round is in its bounds");
    require(record->places.empty() || record->places.size() == record->members.size(), "each member has a place");
    const auto text = serialize(*record);
    const auto again = parse_round(text);
    require(again && serialize(*again) == text, "what was written reads the same");
  }
  for (const auto& each : members_of(lines, round_markers())) {
    const auto who = parse_round_member(each);
    require(!who || who->size > 0, "a round has a size");
    if (!who || !record) continue;
    auto more = *record;
    if (!more.places.empty() || more.members.empty()) more.add(*who), require(more.names(*who), "it was added");
  }
}

const target known("round_record", read_round);

}  // namespace fuzz::round_record_target
