// The nodes of a shard group in ZooKeeper, and their data. docs/formats.md describes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "format/json_object.hpp"
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
  std::string notes() const { return join(root, "operator"); }  ///< What an operator wants: see `operator_notes`.

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

// The data of a member's node: what it tells the planner, and what the planner orders it to do.

/// Beyond it a JSON number is not exact in all languages.
inline constexpr std::int64_t last_plan = std::int64_t{1} << 53;

/// The planner's orders to one member. They replace those before.
struct shard_orders {
  std::int64_t plan = 0;  ///< The number of the plan; 0: there was none yet.
  shard_set own;          ///< What it is to own, and has begun.
  shard_set expect;       ///< What it is to own as soon as the owner before has given it up or is gone.
  /// Members that are gone, whose shards are expected: nobody has to look for them. Names are never used again.
  std::vector<std::string> gone{};
  /// How often in a row this id has joined again soon after it had joined, without an orderly end.
  std::int64_t returns = 0;

  bool has(std::uint32_t shard) const { return own.contains(shard) || expect.contains(shard); }
  bool empty() const { return own.empty() && expect.empty(); }
};

struct member_record {
  std::string id;
  std::uint32_t capacity = 1000;  ///< In thousandths.
  bool is_draining = false;
  std::string failing{};               ///< Why it asks for no shards: most of its own fail. Empty: it does ask.
  std::chrono::milliseconds grace{0};  ///< For how long its shards wait for it after it has stopped.
  std::string data{};                  ///< The user's, for routers.
  shard_orders orders{};
  json_object unknown_fields{};
};

std::string serialize(const member_record& record);
/// Nothing if it is not the data of a member.
std::optional<member_record> parse_member_record(const std::string& data);

/// A member that has stopped and may come back under its id: its shards wait for it.
struct away_record {
  std::string id;
  std::uint32_t capacity = 1000;
  std::chrono::milliseconds grace{0};
  shard_set own;
  std::string node{};  ///< The node that the member had.
};

std::string serialize(const away_record& record);
std::optional<away_record> parse_away_record(const std::string& data);

/// What an operator wants of the planner: members without shards, and shards that belong to one member.
/// One node of the folder `operator`: `drain-<id>` or `pin-<shard>`. They say only who is to own a shard, never that
/// somebody owns it.
struct operator_notes {
  std::set<std::string> drains{};               ///< Ids of members whose capacity counts as 0.
  std::map<std::uint32_t, std::string> pins{};  ///< By shard: the id of the member that is to own it.

  bool empty() const noexcept { return drains.empty() && pins.empty(); }
  /// A node that can not be understood says nothing.
  void add(const std::string& name, const std::string& data);
};

/// The data of a pin.
std::string write_pin(const std::string& id);
/// The id; nothing if the data is not that of a pin.
std::optional<std::string> read_pin(const std::string& data);

}  // namespace zkrecipes::detail
