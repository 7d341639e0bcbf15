// The records of a balance that processes share.
#include "balance/pace_nodes.hpp"
#include "fuzz/target.hpp"

namespace fuzz::pace_record_target {

using namespace zkrecipes::detail;

void read_pace(std::string_view input) {
  const std::string data(input);
  if (const auto limit = parse_limit_record(data)) {
    require(limit->range > 0 && limit->limit >= 0, "range and limit are in their bounds");
    const auto again = parse_limit_record(serialize(*limit));
    require(again && again->range == limit->range && again->limit == limit->limit, "a limit reads the same");
  }
  if (const auto who = parse_pace_member_record(data)) {
    const auto again = parse_pace_member_record(serialize(*who));
    require(again && again->id == who->id && again->floor == who->floor, "a member reads the same");
  }
}

const target known("pace_record", read_pace);

}  // namespace fuzz::pace_record_target
