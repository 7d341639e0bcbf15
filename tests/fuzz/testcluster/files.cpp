// Files that the command testcluster reads.
#include <testcluster/error.hpp>

#include "cluster_file.hpp"
#include "fault_options.hpp"
#include "fuzz/target.hpp"
#include "fuzz/written_file.hpp"
#include "logs.hpp"
#include "options.hpp"
#include "place.hpp"
#include "printable.hpp"
#include "schedule.hpp"
#include "toml_section.hpp"

namespace fuzz::testcluster_files_targets {

using namespace testcluster::command;

// TOML files of clusters, and cluster.json in the directory of one.

void read_file(std::string_view input) try {
  static const written_file file("cluster.toml");
  file.write(input);
  const auto found = testcluster::command::read_cluster_file(file.path());
  require(!testcluster::detail::problem_in(found.ensemble), "what was read can be started");
} catch (const testcluster::error& refused) {
  require(!has_control(refused.what()), "no control character is shown");
}

void read_record(std::string_view input) {
  static const written_file file("cluster.json");
  file.write(input);
  const auto state = testcluster::command::examine(file.folder());
  require(state != testcluster::command::condition::live, "no supervisor lives here");
}

void read_cluster(std::string_view input) {
  read_file(input);
  read_record(input);
}

// Schedules of faults, and the durations and session ids in them.

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

// The logs of servers.

void read_log(std::string_view input) {
  static const written_file file("server.log");
  file.write(input);
  testcluster::command::server_log log(1, file.path());
  std::string last;
  const auto read_lines = [&] {
    while (const auto& line = log.peek()) {
      require(line->find('\n') == line->npos, "a line has no line end");
      last = log.time();
      log.pop();
    }
  };
  read_lines();
  log.finish();
  read_lines();
}

const target known[] = {{"cluster_file", read_cluster}, {"schedule", read_schedules}, {"server_log", read_log}};

}  // namespace fuzz::testcluster_files_targets
