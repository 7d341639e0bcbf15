#include "report/check_report.hpp"

#include <algorithm>
#include <cctype>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {

namespace {

namespace json = boost::json;

std::string audit_as_table(std::span<const audit_entry> entries) {
  if (entries.empty()) return "no interventions\n";
  const auto row = [](const audit_entry& each) {
    return row_of(utc_time(each.at_ms), each.who, each.cluster, each.command, to_string(each.state),
                  or_dash(each.result));
  };
  return printed(table_of({{"WHEN"}, {"WHO"}, {"CLUSTER"}, {"COMMAND"}, {"STATE"}, {"RESULT"}}, entries, row));
}

std::string audit_as_json(std::span<const audit_entry> entries, bool complete) {
  json::array all;
  for (const auto& each : entries)
    all.push_back(json::object{{"id", well_formed(each.id)},
                               {"at_ms", each.at_ms},
                               {"who", or_null(each.who)},
                               {"cluster", or_null(each.cluster)},
                               {"command", or_null(each.command)},
                               {"requests", or_null(each.requests)},
                               {"state", to_string(each.state)},
                               {"result", or_null(each.result)}});
  return json_line(json::object{{"schema", 1}, {"complete", complete}, {"interventions", std::move(all)}});
}

std::string audit_as_tsv(std::span<const audit_entry> entries) {
  std::string text;
  for (const auto& each : entries)
    text += tsv_line("intervention", each.id, each.at_ms, each.who, each.cluster, each.command, each.requests,
                     to_string(each.state), each.result);
  return text;
}

}  // namespace

std::string formatted_audit(std::span<const audit_entry> entries, output_format format, bool complete) {
  return in_format(
      format, [&] { return audit_as_table(entries); }, [&] { return audit_as_json(entries, complete); },
      [&] { return audit_as_tsv(entries); });
}

namespace {

namespace json = boost::json;

constexpr std::size_t most_named = 3;  // Problems in the first line.

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string with_names(const problem_list& problems) {
  std::string names;
  for (std::size_t i = 0; i < std::min(problems.size(), most_named); ++i)
    append_to_list(names, problems[i].name + " " + problems[i].where);
  if (problems.size() > most_named) append_to_list(names, std::to_string(problems.size() - most_named) + " more");
  return counted(problems.size(), "problem") + ": " + names;
}

std::string headline(const verdict& judged) {
  std::string text;
  if (!judged.problems.empty()) text = with_names(judged.problems);
  if (!judged.unknown.empty())
    text += (text.empty() ? "" : "; ") + counted(judged.unknown.size(), "thing") + " not known";
  return text.empty() ? judged.extent : text;
}

std::string with_cure(const problem& one) { return one.cure.empty() ? one.text : one.text + ". Cure: " + one.cure; }

json::object object_of(const problem& one) {
  json::object all{{"name", one.name},
                   {"severity", to_string(one.how_bad)},
                   {"where", well_formed(one.where)},
                   {"text", well_formed(one.text)}};
  if (!one.cure.empty()) all["cure"] = well_formed(one.cure);
  return all;
}

std::vector<survey_note> all_notes(const verdict& judged) {
  auto notes = judged.unknown;
  notes.insert(notes.end(), judged.remarks.begin(), judged.remarks.end());
  return notes;
}

std::string one_line(const std::string& text) {
  std::string result;
  for (const char each : printable(text)) result += each == '|' ? "\u00a6" : std::string(1, each);
  return result + "\n";
}

}  // namespace

std::string to_lines(const verdict& judged) {
  std::string text = one_line("ZKADMIN " + upper_case(to_string(state_of(judged))) + " - " + headline(judged));
  for (const auto& each : judged.problems)
    text +=
        one_line(std::string(to_string(each.how_bad)) + " " + each.name + " " + each.where + ": " + with_cure(each));
  for (const auto& each : judged.unknown) text += one_line("unknown " + to_string(each));
  for (const auto& each : judged.remarks) text += one_line("note " + to_string(each));
  return text;
}

std::string to_line(const std::string& failed) { return one_line("ZKADMIN UNKNOWN - " + failed); }

std::string to_json(const verdict& judged) {
  return json_line(json::object{{"schema", 1},
                                {"state", to_string(state_of(judged))},
                                {"complete", judged.unknown.empty()},
                                {"problems", array_of(judged.problems, object_of)},
                                {"notes", note_array(all_notes(judged))}});
}

std::string to_tsv(const verdict& judged) {
  std::string text = tsv_line("check", to_string(state_of(judged)), judged.unknown.empty() ? "complete" : "incomplete",
                              judged.problems.size());
  for (const auto& each : judged.problems) {
    const auto how_bad = to_string(each.how_bad);
    text += each.cure.empty() ? tsv_line("problem", how_bad, each.name, each.where, each.text)
                              : tsv_line("problem", how_bad, each.name, each.where, each.text, each.cure);
  }
  return text + note_lines(all_notes(judged));
}

}  // namespace zkadmin
