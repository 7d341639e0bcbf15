// The records and the names of calls that are made once in a period.
#include "fuzz/target.hpp"
#include "once/once_state.hpp"

namespace fuzz::once_record_target {

using namespace zkrecipes::detail;

void read_once(std::string_view input) {
  const std::string data(input);
  if (const auto record = parse_once_record(data)) {
    const auto text = serialize(*record);
    const auto again = parse_once_record(text);
    require(again && serialize(*again) == text && again->is_withdrawn == record->is_withdrawn,
            "an intent reads the same");
  }
  if (const auto per = parse_period(data)) {
    require(per->count() > 0, "a period is longer than nothing");
    require(parse_period(serialize_period(*per)) == per, "a period reads the same");
    const once_place place{"/once", *per};
    require(place.end_of(place.period_at(1'700'000'000'000)) > 1'700'000'000'000, "a period ends after its times");
  }
  if (const auto number = once_place::period_named(input))
    require(std::to_string(*number) == data, "a period has one name");
}

const target known("once_record", read_once);

}  // namespace fuzz::once_record_target
