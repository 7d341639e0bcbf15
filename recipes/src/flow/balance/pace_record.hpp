// What the nodes of a balance that processes share hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "format/json_object.hpp"

namespace zkrecipes::detail {

/// The data of the node `limit`.
struct limit_record {
  std::int64_t range = 0;
  std::int64_t limit = 0;
  json_object unknown_fields{};
};

/// The data of a member's node. Without a floor it has just joined, and holds the limit as it is.
struct pace_member_record {
  std::string id{};
  std::optional<std::int64_t> floor{};
};

std::string serialize(const limit_record& record);
std::optional<limit_record> parse_limit_record(const std::string& data);
std::string serialize(const pace_member_record& record);
std::optional<pace_member_record> parse_pace_member_record(const std::string& data);

}  // namespace zkrecipes::detail
