#include "report/change_report.hpp"

#include <algorithm>

#include "report/encoding.hpp"
#include "report/json_values.hpp"
#include "report/node_report.hpp"
#include "report/tsv.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

constexpr std::size_t longest_line = 200;       // Bytes of data for people.
constexpr std::size_t most_shown = 10;          // Children for people.
constexpr std::size_t most_in_a_line = 10'000;  // Children for programs.

std::string counted(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string unseen_text(const node_change& change) {
  if (!is_change(change)) return {};
  if (!change.unseen) return " (changes before that may not have been seen)";
  if (*change.unseen == 0) return {};
  const bool is_data = change.what == node_change::kind::changed || change.what == node_change::kind::created;
  return " (" + counted(*change.unseen, is_data ? "version" : "change") + " in between not seen)";
}

std::string names_text(const char* sign, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most_shown); ++i) text += " " + (sign + printable(names[i]));
  if (names.size() > most_shown) text += " " + (sign + std::to_string(names.size() - most_shown)) + " more";
  return text;
}

std::string change_line(const node_change& change, const std::string& path, std::int64_t now) {
  std::string text = utc_timestamp(now) + " " + to_string(change.what) + " " + printable(path);
  text += names_text("+", change.added) + names_text("-", change.removed);
  const bool has_data = change.stat && change.data;
  if (has_data)
    text += " version " + std::to_string(change.stat->version) + ", " +
            counted(static_cast<std::int64_t>(change.data->size()), "byte");
  text += unseen_text(change);
  if (change.what == node_change::kind::reconnected) text += " (several changes may be told as one)";
  if (has_data)
    text += is_showable(*change.data) ? ": " + printable(shortened(*change.data, longest_line)) : ": binary";
  return text + "\n";
}

json::array name_array(const std::vector<std::string>& names) {
  json::array all;
  for (std::size_t i = 0; i < std::min(names.size(), most_in_a_line); ++i)
    all.push_back(json::value(well_formed(names[i])));
  return all;
}

void add_data(json::object& into, const std::string& data) {
  const bool is_text = is_utf8(data);
  into["encoding"] = is_text ? "utf-8" : "base64";
  into["data"] = is_text ? data : base64(data);
}

std::string change_json(const node_change& change, const std::string& path, std::int64_t now) {
  json::object line{{"time_ms", now}, {"event", to_string(change.what)}};
  put_text(line, "path", path);
  if (is_change(change)) line["unseen"] = or_null(change.unseen);
  if (change.what == node_change::kind::reconnected) line["may_have_missed"] = true;
  if (change.stat) line["version"] = change.stat->version;
  if (change.data) add_data(line, *change.data);
  if (change.what == node_change::kind::children) {
    line["added"] = name_array(change.added);
    line["removed"] = name_array(change.removed);
    line["added_count"] = change.added.size();
    line["removed_count"] = change.removed.size();
  }
  return json_line(line);
}

std::string change_tsv(const node_change& change, const std::string& path, std::int64_t now) {
  const bool is_text = change.data && is_utf8(*change.data);
  const auto unseen = is_change(change) && change.unseen ? std::to_string(*change.unseen) : "";
  auto text = tsv_line({"change", std::to_string(now), to_string(change.what), path, unseen,
                        change.stat ? std::to_string(change.stat->version) : "",
                        !change.data ? ""
                        : is_text    ? "utf-8"
                                     : "base64",
                        !change.data ? ""
                        : is_text    ? *change.data
                                     : base64(*change.data)});
  for (const auto& each : change.added) text += tsv_line({"added", path, each});
  for (const auto& each : change.removed) text += tsv_line({"removed", path, each});
  return text;
}

}  // namespace

std::string to_text(const node_change& change, const std::string& path, std::int64_t now, node_format format) {
  switch (format) {
    case node_format::table: return change_line(change, path, now);
    case node_format::json:
    case node_format::ndjson: return change_json(change, path, now);
    case node_format::tsv: return change_tsv(change, path, now);
  }
  return {};
}

}  // namespace zkadmin
