// What an operator wants of the planner: members without shards, and shards that belong to one member.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace zkrecipes::detail {

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
