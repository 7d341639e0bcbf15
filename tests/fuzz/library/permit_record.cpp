// The record of a semaphore and, in the lines behind it, the names of its members.
#include "semaphore/permit_record.hpp"

#include <array>

#include "fuzz/target.hpp"

namespace fuzz::permit_record_target {

using namespace zkrecipes::detail;

constexpr std::array<std::string_view, 1> markers{"-permit-"};

void read_permits(std::string_view input) {
  const auto lines = lines_of(input);
  const auto record = parse_permits(lines.front());
  if (record) {
    require(record->size > 0 && record->before >= 0 && record->shrunk_from >= 0, "sizes are in their bounds");
    require(parse_permits(serialize(*record)) == record, "a semaphore reads the same");
  }
  const auto members = members_of(lines, markers);
  for (const auto& each : members) require(weight_of(each.name) >= 0, "a weight is not negative");
  const auto waits = who_waits(members, record ? record->size : 3);
  require(waits.size() == members.size(), "each member waits or holds");
  for (std::size_t i = 0; record && i < members.size(); ++i) who_fills(members, i, *record);
}

const target known("permit_record", read_permits);

}  // namespace fuzz::permit_record_target
