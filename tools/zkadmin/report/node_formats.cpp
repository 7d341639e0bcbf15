
#include "report/encoding.hpp"
#include "report/json_values.hpp"
#include "report/node_report.hpp"
#include "report/node_table.hpp"
#include "report/tsv.hpp"
#include "text.hpp"

namespace zkadmin {
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
  json::array nodes;
  for (const auto& each : listing.nodes) nodes.push_back(node_object(each));
  auto document = head_of(listing);
  document["nodes"] = std::move(nodes);
  return json_line(document);
}

std::string listing_ndjson(const node_listing& listing) {
  std::string text;
  for (const auto& each : listing.nodes) text += json_line(node_object(each));
  return text + json_line(head_of(listing));
}

std::string node_tsv(const node_view& node) {
  if (!node.stat) return tsv_line({"node", node.path});
  const auto& stat = *node.stat;
  return tsv_line({"node", node.path, kind_of(stat), owner_of(stat), node.recipe, std::to_string(stat.data_length),
                   std::to_string(stat.num_children), std::to_string(stat.version), std::to_string(stat.cversion),
                   std::to_string(stat.aversion), id_text(stat.czxid), id_text(stat.mzxid), id_text(stat.pzxid),
                   std::to_string(stat.ctime), std::to_string(stat.mtime)});
}

std::string listing_tsv(const node_listing& listing) {
  std::string text =
      tsv_line({"nodes", listing.complete ? "complete" : "incomplete", std::to_string(listing.nodes.size())});
  for (const auto& each : listing.nodes) text += node_tsv(each);
  for (const auto& each : listing.notes) text += tsv_line({"note", each.path, each.text});
  return text;
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
  if (format == node_format::tsv) return tsv_line({"data", node.path, encoding, encoded});
  json::object document{{"schema", 1}, {"encoding", encoding}, {"data", encoded}};
  for (const auto& [key, value] : node_object(node)) document[key] = value;
  return json_line(document);
}

}  // namespace zkadmin
