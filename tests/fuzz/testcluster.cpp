// What testcluster reads: frames and files.
#include <testcluster/error.hpp>
#include <testcluster/op_code.hpp>

#include "cluster_file.hpp"
#include "fault_options.hpp"
#include "frame_filter.hpp"
#include "fuzz/target.hpp"
#include "jute/messages.hpp"
#include "logs.hpp"
#include "options.hpp"
#include "place.hpp"
#include "printable.hpp"
#include "proxy_link.hpp"
#include "schedule.hpp"
#include "toml_section.hpp"

namespace fuzz::proxy_frames_target {

// The streams that the proxies pass on, and the replies that testcluster reads itself. The first byte of the input
// tells into how many pieces the stream is cut.

using namespace testcluster;

/// Gives the stream to `pass` in pieces of this size, and collects what it lets pass.
template <class Pass>
std::string in_pieces(std::string_view stream, std::size_t size, Pass pass) {
  std::string passed;
  for (std::size_t begin = 0; begin < stream.size(); begin += size) passed += pass(stream.substr(begin, size));
  return passed;
}

void split(std::string_view stream, std::size_t size) {
  detail::frame_splitter frames;
  auto passed = in_pieces(stream, size, [&](std::string_view piece) {
    std::string all;
    frames.add(piece);
    while (const auto frame = frames.next()) all += *frame;
    return all;
  });
  passed += frames.rest();
  require(passed == stream, "a splitter loses no byte");
}

void filter(std::string_view stream, std::size_t size) {
  detail::drop_rules rules;
  detail::frame_filter idle(rules);
  const auto passed = in_pieces(stream, size, [&](std::string_view piece) { return idle.requests(piece).pass; });
  require(passed + idle.rest_of_requests() == stream, "without a rule everything passes");
  rules.add(detail::drop_rules::what::reply, op::exists, 1);
  rules.add_each(detail::drop_rules::what::request, op::create, "/a");
  detail::frame_filter busy(rules);
  for (std::size_t begin = 0; begin < stream.size(); begin += size) {
    const auto piece = stream.substr(begin, size);
    if (busy.requests(piece).cut || busy.replies(piece).cut) break;
  }
}

void greet(std::string_view stream, std::size_t size) {
  detail::election_greeting none("");
  const auto same = in_pieces(stream, size, [&](std::string_view piece) { return none.pass(piece); });
  require(same + none.rest() == stream, "without an address everything passes");
  detail::election_greeting other("127.0.0.1:3888");
  auto passed = in_pieces(stream, size, [&](std::string_view piece) { return other.pass(piece); });
  passed += other.rest();
  require(passed.size() <= stream.size() + 14, "no more than an address is added");
}

template <class Read>
void attempt(Read read) try {
  read();
} catch (const testcluster::error&) {  // it ends too early
}

void read_stream(std::string_view input) {
  const std::size_t size = take_byte(input) % 32u + 1;
  split(input, size);
  filter(input, size);
  greet(input, size);
  attempt([&] { jute::connect_reply(input); });
  attempt([&] { jute::owner_in(input); });
  attempt([&] { require(jute::names_in(input).size() <= input.size() / 4, "no name without its length"); });
}

const target known("proxy_frames", read_stream);

}  // namespace fuzz::proxy_frames_target

namespace fuzz::testcluster_files_targets {

// Files that the command testcluster reads.

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
