#include "report/audit_report.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

std::string audit_as_table(std::span<const audit_entry> entries) {
  if (entries.empty()) return "no interventions\n";
  table content;
  content.columns = {{"WHEN"}, {"WHO"}, {"CLUSTER"}, {"COMMAND"}, {"STATE"}, {"RESULT"}};
  for (const auto& each : entries)
    content.rows.push_back({{utc_time(each.at_ms)},
                            {each.who},
                            {each.cluster},
                            {each.command},
                            {to_string(each.state)},
                            {each.result.empty() ? "-" : each.result}});
  return printed(content);
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
    text += tsv_line({"intervention", each.id, std::to_string(each.at_ms), each.who, each.cluster, each.command,
                      each.requests, to_string(each.state), each.result});
  return text;
}

}  // namespace

std::string formatted_audit(std::span<const audit_entry> entries, output_format format, bool complete) {
  switch (format) {
    case output_format::table: return audit_as_table(entries);
    case output_format::json: return audit_as_json(entries, complete);
    case output_format::tsv: return audit_as_tsv(entries);
  }
  return {};
}

}  // namespace zkadmin
