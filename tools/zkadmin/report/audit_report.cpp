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

}  // namespace zkadmin
