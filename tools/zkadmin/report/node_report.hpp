// Prints nodes.
#pragma once

#include <cstdint>
#include <string>

#include <boost/json/object.hpp>

#include "cluster/nodes.hpp"
#include "settings/command_line.hpp"

namespace zkadmin {

/// What a line of a listing shows of a node.
enum class listing_style {
  names,
  paths,
  long_names,  ///< With data length, children, kind, owner and recipe.
  long_paths,
  tree,  ///< As `long_names`, indented by depth.
};

/// As text for people, as one JSON object, as one per line, or as TSV. docs/zkadmin.md describes them.
std::string to_text(const node_listing& listing, node_format format, listing_style style);

/// The metadata of one node.
std::string stat_text(const node_view& node, node_format format);

/// The data in the format for programs: JSON (as UTF-8 or base64, the field "encoding" tells) or TSV.
std::string data_text(const node_view& node, const std::string& data, node_format format);

/// {"path":...,"kind":...,...}; only the path if nothing else is known.
boost::json::object node_object(const node_view& node);

/// Puts a text of any bytes under the key: as it is, or, if it is not UTF-8, with what is malformed replaced, and
/// exactly under `key` + "_base64".
void put_text(boost::json::object& into, const std::string& key, const std::string& text);

/// "0x1f" of an ephemeral node's session; empty for others.
std::string owner_of(const zkrecipes::node_stat& stat);

// Prints the changes of a node, one by one.

/// A line; as TSV one more for each child. `now`: milliseconds since 1970.
std::string to_text(const node_change& change, const std::string& path, std::int64_t now, node_format format);

}  // namespace zkadmin
