// Where a balance that processes share is stored, and by whom it is used.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "session/core.hpp"

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
