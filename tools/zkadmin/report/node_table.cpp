#include "report/node_table.hpp"

#include <algorithm>
#include <array>

#include "report/encoding.hpp"
#include "text.hpp"

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

}  // namespace zkadmin
