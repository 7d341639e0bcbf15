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
  const auto digits = [](const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : ""; };
  std::string text;
  for (const auto& each : election.history) {
    const auto length = length_of(each, now);
    text += tsv_line({"term", election.path, std::to_string(each.epoch), each.leader, digits(ms_of(each.began)),
                      digits(ms_of(each.ended)), length ? std::to_string(length->count()) : "", each.outcome});
  }
  return text;
}

}  // namespace

table history_table(const election_status& election, wall_time now) {
  table content;
  content.columns = {{"EPOCH", 0, true}, {"LEADER"}, {"BEGAN", 1}, {"LASTED", 0, true}, {"ENDED"}};
  for (const auto& each : election.history) {
    const auto began = ms_of(each.began);
    const auto length = length_of(each, now);
    content.rows.push_back({{std::to_string(each.epoch)},
                            {each.leader},
                            {began ? utc_time(*began) : "-"},
                            {length ? short_duration(*length) : "-"},
                            {each.outcome.empty() ? "goes on: " + election.phase : each.outcome}});
  }
  return content;
}

std::string formatted_history(const election_status& election, output_format format, wall_time now) {
  switch (format) {
    case output_format::table: return history_as_table(election, now);
    case output_format::json: return history_as_json(election, now);
    case output_format::tsv: return history_as_tsv(election, now);
  }
  return {};
}

}  // namespace zkadmin
