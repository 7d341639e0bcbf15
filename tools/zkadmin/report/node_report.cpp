#include "report/node_report.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {

namespace {

constexpr std::size_t longest_name = 256;  // Bytes.
constexpr std::size_t deepest_indent = 40;
constexpr std::size_t longest_mark = 32;

/// All columns but the name, which comes last and is not padded: names may be long and lines many.
using node_columns = std::array<std::string, 5>;

node_columns columns_of(const node_view& node) {
  if (!node.stat) return {"?", "?", "?", "?", "?"};
  const auto& stat = *node.stat;
  return {std::to_string(stat.data_length), std::to_string(stat.num_children), kind_of(stat), or_dash(owner_of(stat)),
          or_dash(printable(shortened(node.recipe, longest_mark)))};
}

std::string base_name(const std::string& path) { return path == "/" ? path : path.substr(path.rfind('/') + 1); }

std::string name_in(const node_view& node, listing_style style) {
  const bool is_path = style == listing_style::paths || style == listing_style::long_paths;
  if (is_path) return printable(node.path);
  if (style != listing_style::tree) return printable(base_name(node.path));
  const auto name = node.depth == 0 ? node.path : base_name(node.path);
  return std::string(2 * std::min(node.depth, deepest_indent), ' ') + printable(shortened(name, longest_name));
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string gap(width - std::min(width, text.size()), ' ');
  return to_the_right ? gap + text : text + gap;
}

std::string detailed(const node_listing& listing, listing_style style) {
  std::vector<node_columns> rows{{"DATA", "CHILDREN", "KIND", "OWNER", "RECIPE"}};
  std::array<std::size_t, 5> widths{};
  for (const auto& each : listing.nodes) rows.push_back(columns_of(each));
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < widths.size(); ++k) text += padded(rows[i][k], widths[k], k < 2) + "  ";
    text += (i == 0 ? "NAME" : name_in(listing.nodes[i - 1], style)) + "\n";
  }
  return text;
}

}  // namespace

std::string owner_of(const zkrecipes::node_stat& stat) {
  return stat.ephemeral_owner == 0 ? "" : hexadecimal(static_cast<std::uint64_t>(stat.ephemeral_owner));
}

std::string listing_table(const node_listing& listing, listing_style style) {
  if (style != listing_style::names && style != listing_style::paths) return detailed(listing, style);
  std::string text;
  for (const auto& each : listing.nodes) text += name_in(each, style) + "\n";
  return text;
}

std::string stat_table(const node_view& node) {
  const auto& stat = node.stat.value();
  const auto zxid = [](std::int64_t id) { return hexadecimal(static_cast<std::uint64_t>(id)); };
  const std::pair<const char*, std::string> lines[] = {
      {"path", printable(node.path)},
      {"kind", kind_of(stat)},
      {"owner", or_dash(owner_of(stat))},
      {"recipe", or_dash(printable(shortened(node.recipe, longest_mark)))},
      {"data length", std::to_string(stat.data_length)},
      {"children", std::to_string(stat.num_children)},
      {"created", utc_timestamp(stat.ctime) + " by " + zxid(stat.czxid)},
      {"changed", utc_timestamp(stat.mtime) + " by " + zxid(stat.mzxid)},
      {"children changed", "by " + zxid(stat.pzxid)},
      {"version", std::to_string(stat.version)},
      {"version of children", std::to_string(stat.cversion)},
      {"version of ACL", std::to_string(stat.aversion)},
  };
  std::string text;
  for (const auto& [name, value] : lines) text += padded(name, 21, false) + value + "\n";
  return text;
}

namespace {

namespace json = boost::json;

std::string id_text(std::int64_t id) { return hexadecimal(static_cast<std::uint64_t>(id)); }

void add_stat(json::object& into, const zkrecipes::node_stat& stat) {
  into["kind"] = kind_of(stat);
  into["owner"] = or_null(owner_of(stat));
  into["data_length"] = stat.data_length;
  into["children"] = stat.num_children;
  into["version"] = stat.version;
  into["cversion"] = stat.cversion;
  into["aversion"] = stat.aversion;
  into["czxid"] = id_text(stat.czxid);
  into["mzxid"] = id_text(stat.mzxid);
  into["pzxid"] = id_text(stat.pzxid);
  into["ctime_ms"] = stat.ctime;
  into["mtime_ms"] = stat.mtime;
}

json::object head_of(const node_listing& listing) {
  return {{"schema", 1}, {"complete", listing.complete}, {"notes", note_array(listing.notes)}};
}

std::string listing_json(const node_listing& listing) {
  auto document = head_of(listing);
  document["nodes"] = array_of(listing.nodes, node_object);
  return json_line(document);
}

std::string listing_ndjson(const node_listing& listing) {
  std::string text;
  for (const auto& each : listing.nodes) text += json_line(node_object(each));
  return text + json_line(head_of(listing));
}

std::string node_tsv(const node_view& node) {
  if (!node.stat) return tsv_line("node", node.path);
  const auto& stat = *node.stat;
  return tsv_line("node", node.path, kind_of(stat), owner_of(stat), node.recipe, stat.data_length, stat.num_children,
                  stat.version, stat.cversion, stat.aversion, id_text(stat.czxid), id_text(stat.mzxid),
                  id_text(stat.pzxid), stat.ctime, stat.mtime);
}

std::string listing_tsv(const node_listing& listing) {
  std::string text = tsv_line("nodes", listing.complete ? "complete" : "incomplete", listing.nodes.size());
  for (const auto& each : listing.nodes) text += node_tsv(each);
  return text + note_lines(listing.notes);
}

}  // namespace

void put_text(json::object& into, const std::string& key, const std::string& text) {
  into[key] = well_formed(text);
  if (!is_utf8(text)) into[key + "_base64"] = base64(text);
}

json::object node_object(const node_view& node) {
  json::object object;
  put_text(object, "path", node.path);
  if (!node.stat) return object;
  object["recipe"] = or_null(node.recipe);
  add_stat(object, *node.stat);
  return object;
}

std::string to_text(const node_listing& listing, node_format format, listing_style style) {
  switch (format) {
    case node_format::table: return listing_table(listing, style);
    case node_format::json: return listing_json(listing);
    case node_format::ndjson: return listing_ndjson(listing);
    case node_format::tsv: return listing_tsv(listing);
  }
  return {};
}

std::string stat_text(const node_view& node, node_format format) {
  if (format == node_format::table) return stat_table(node);
  if (format == node_format::tsv) return node_tsv(node);
  json::object document{{"schema", 1}};
  for (const auto& [key, value] : node_object(node)) document[key] = value;
  return json_line(document);
}

std::string data_text(const node_view& node, const std::string& data, node_format format) {
  const bool is_text = is_utf8(data);
  const char* encoding = is_text ? "utf-8" : "base64";
  const auto encoded = is_text ? data : base64(data);
  if (format == node_format::tsv) return tsv_line("data", node.path, encoding, encoded);
  json::object document{{"schema", 1}, {"encoding", encoding}, {"data", encoded}};
  for (const auto& [key, value] : node_object(node)) document[key] = value;
  return json_line(document);
}

namespace {

namespace json = boost::json;

constexpr std::size_t longest_shown_line = 200;  // Bytes of data for people.
constexpr std::size_t most_shown = 10;           // Children for people.
constexpr std::size_t most_in_a_line = 10'000;   // Children for programs.

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
    text += is_showable(*change.data) ? ": " + printable(shortened(*change.data, longest_shown_line)) : ": binary";
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
  const auto* const encoding = is_text ? "utf-8" : change.data ? "base64" : "";
  const auto data = is_text ? *change.data : base64(change.data.value_or(""));
  auto text = tsv_line("change", now, to_string(change.what), path, is_change(change) ? change.unseen : std::nullopt,
                       change.stat ? std::to_string(change.stat->version) : "", encoding, data);
  for (const auto& each : change.added) text += tsv_line("added", path, each);
  for (const auto& each : change.removed) text += tsv_line("removed", path, each);
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
