// The nodes of a shard group in ZooKeeper. docs/formats.md describes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "line/line_spec.hpp"
#include "session/paths.hpp"
#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

/// How the names of an operator's notes begin.
inline const std::string drain_prefix = "drain-";
inline const std::string pin_prefix = "pin-";

struct group_layout {
  std::string root;

  std::string planner() const { return join(root, "_planner"); }        ///< The election of planners.
  std::string members() const { return join(root, "member"); }          ///< A line; each member has its orders in it.
  std::string away() const { return join(root, "away"); }               ///< Members that may come back, by id.
  std::string records() const { return join(root, "shard"); }           ///< A term record for each shard.
  std::string quarantines() const { return join(root, "quarantine"); }  ///< Shards that are not assigned.
  std::string frozen() const { return join(root, "frozen"); }   ///< While it exists no shard is taken from a member.
  std::string map() const { return join(root, "map"); }         ///< A hint for routers.
  std::string notes() const { return join(root, "operator"); }  ///< What an operator wants: see operator_notes.hpp.

  std::string member(std::string_view node) const { return join(members(), node); }
  std::string away_of(const std::string& id) const { return join(away(), file_name(id)); }
  std::string record(std::uint32_t shard) const { return join(records(), shard_name(shard)); }
  std::string quarantine(std::uint32_t shard) const { return join(quarantines(), shard_name(shard)); }
  std::string drain_of(const std::string& id) const { return join(notes(), drain_prefix + file_name(id)); }
  std::string pin(std::uint32_t shard) const { return join(notes(), pin_prefix + shard_name(shard)); }
  /// The line of the members. Nobody waits in it.
  line_spec line() const;

  /// An id as the name of a node: slashes and percent signs are replaced by "%2F" and "%25", as is an id of dots only.
  static std::string file_name(const std::string& id);
  /// Nothing if no id has this name.
  static std::optional<std::string> id_of(std::string_view file_name);
};

/// The data of the group's node.
std::string group_data(std::uint32_t shards);
/// What the data of an existing node says.
struct group_size {
  bool is_group = false;  ///< Else it holds other data.
  std::uint32_t shards = 0;
};
group_size read_group_data(const std::string& data);

}  // namespace zkrecipes::detail
