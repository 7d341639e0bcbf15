// Schedules of faults, and the durations and session ids in them.
#include "schedule.hpp"

#include <testcluster/error.hpp>

#include "duration.hpp"
#include "fuzz/target.hpp"
#include "fuzz/written_file.hpp"
#include "printable.hpp"
#include "session_id.hpp"

namespace fuzz::schedule_target {

using namespace testcluster::command;

void read_values(const std::string& text) {
  if (const auto time = parse_duration(text)) {
    require(time->count() >= 0, "a duration is not negative");
    require(*time > std::chrono::hours(1) || parse_duration(to_text(*time)) == time, "a duration reads the same");
  }
  const auto id = parse_session(text);
  require(!id || *id != 0, "0 is no session");
  auto shown = printable(text);
  for (const unsigned char each : shown) require(each == '\t' || (each >= 0x20 && each != 0x7f), "no control");
}

void read_plan(std::string_view input) try {
  static const written_file file("schedule.toml");
  file.write(input);
  const auto plan = read_schedule(file.path());
  for (std::size_t i = 1; i < plan.steps.size(); ++i)
    require(plan.steps[i - 1].at <= plan.steps[i].at, "steps stand in the order of time");
  require_fit(plan, {3, 1, true, true});
} catch (const testcluster::error& refused) {
  require(!has_control(refused.what()), "no control character is shown");
}

void read_schedules(std::string_view input) {
  read_values(std::string(input));
  read_plan(input);
}

const target known("schedule", read_schedules);

}  // namespace fuzz::schedule_target
