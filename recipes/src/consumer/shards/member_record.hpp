// The data of a member's node: what it tells the planner, and what the planner orders it to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/json_object.hpp"
#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
