// The nodes of a balance that processes share: making them, and reading the limit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "format/json_object.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

/// What the nodes of a balance that processes share hold.
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

/// Where a balance that processes share is stored, and by whom it is used.
class pace_place {
 public:
  pace_place(core_ptr over, std::string where, std::string who, std::int64_t steps)
      : session(std::move(over)), root(std::move(where)), id(std::move(who)), range(steps) {}

  static constexpr std::string_view member_prefix = "member-";
  static constexpr std::string_view aside_prefix = "aside-";

  std::string limit() const { return root + "/limit"; }
  std::string members() const { return root + "/members"; }
  std::string member(const std::string& name) const { return members() + '/' + name; }
  /// While this node stands the member is not the pacer.
  std::string aside(const std::string& name) const { return member(std::string(aside_prefix) + name); }

  const core_ptr session;
  const std::string root;
  const std::string id;
  const std::int64_t range;
};

using pace_place_ptr = std::shared_ptr<const pace_place>;

/// The limit as it was read.
struct limit_sight {
  error_code error{};  ///< That of the read, or `foreign_data` or `size_mismatch` by what is there.
  limit_record record{};
  std::int32_t version = 0;
  std::int64_t mzxid = 0;
};

limit_sight read_limit(const pace_place& where, const backend::reply& node);

/// Reads the limit. If there is none, and no node of members either, both are made, with the limit `known` or the
/// range, whichever is higher. Error `no_node`: only the limit is missing.
awaitable<limit_sight> find_limit(pace_place_ptr where, std::int64_t known);

}  // namespace zkrecipes::detail
