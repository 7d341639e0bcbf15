#include "report/history_report.hpp"

#include <algorithm>
#include <optional>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;
using wall_time = std::chrono::system_clock::time_point;
using std::chrono::milliseconds;

std::optional<std::int64_t> ms_of(const std::optional<wall_time>& time) {
  if (!time) return std::nullopt;
  return time->time_since_epoch() / milliseconds(1);
}

/// Never negative, although the clocks of the servers and ours may differ.
std::optional<milliseconds> length_of(const term_status& term, wall_time now) {
  const auto end = term.outcome.empty() ? std::optional(now) : term.ended;
  if (!term.began || !end) return std::nullopt;
  return std::max(std::chrono::duration_cast<milliseconds>(*end - *term.began), milliseconds(0));
}

std::string history_as_table(const election_status& election, wall_time now) {
  if (election.history.empty()) return "no term is recorded\n";
  return printed(history_table(election, now));
}

std::string history_as_json(const election_status& election, wall_time now) {
  json::array terms;
  for (const auto& each : election.history)
    terms.push_back(json::object{{"epoch", each.epoch},
                                 {"leader", or_null(each.leader)},
                                 {"began_ms", or_null(ms_of(each.began))},
                                 {"ended_ms", or_null(ms_of(each.ended))},
                                 {"lasted_ms", or_null(length_of(each, now))},
                                 {"outcome", or_null(each.outcome)}});
  const json::object all{{"schema", 1},
                         {"path", well_formed(election.path)},
                         {"phase", or_null(election.phase)},
                         {"terms", std::move(terms)}};
  return json_line(all);
}

std::string history_as_tsv(const election_status& election, wall_time now) {
  std::string text;
  for (const auto& each : election.history)
    text += tsv_line("term", election.path, each.epoch, each.leader, ms_of(each.began), ms_of(each.ended),
                     length_of(each, now), each.outcome);
  return text;
}

}  // namespace

table history_table(const election_status& election, wall_time now) {
  const auto row = [&election, now](const term_status& each) {
    const auto began = ms_of(each.began);
    return row_of(each.epoch, each.leader, began ? utc_time(*began) : "-", length_of(each, now),
                  each.outcome.empty() ? "goes on: " + election.phase : each.outcome);
  };
  return table_of({{"EPOCH", 0, true}, {"LEADER"}, {"BEGAN", 1}, {"LASTED", 0, true}, {"ENDED"}}, election.history,
                  row);
}

std::string formatted_history(const election_status& election, output_format format, wall_time now) {
  return in_format(
      format, [&] { return history_as_table(election, now); }, [&] { return history_as_json(election, now); },
      [&] { return history_as_tsv(election, now); });
}

}  // namespace zkadmin
