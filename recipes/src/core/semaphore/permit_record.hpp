// The data of a semaphore: its size in the node at the path, the weight of a member in its node's name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/json_object.hpp"
#include "line/line_spec.hpp"

namespace zkrecipes::detail {

/// The data of the node at the semaphore's path, as JSON.
struct permit_record {
  std::int32_t size = 0;
  std::int32_t before = 0;  ///< The size before the last resize; 0: it was never resized.
  /// Set while a shrink is not complete: the size before it. A member that was let in under that size may hold without
  /// being marked as a holder yet (`let_pass`). 0: all holders are marked.
  std::int32_t shrunk_from = 0;
  json_object unknown_fields{};  ///< Fields that a later version of the library has added.

  friend bool operator==(const permit_record&, const permit_record&) = default;
};

/// Nothing if it is not a record.
std::optional<permit_record> parse_permits(const std::string& data);
std::string serialize(const permit_record& record);

/// The number of permits that a member asks for, from its name; 0 for a name that this library has not made.
std::int32_t weight_of(const std::string& name);

/// The members before `self` that have to go first. Nothing if `self` fits, or asks for more permits than there are.
std::optional<stretch> who_fills(std::span<const member> members, std::size_t self, const permit_record& size);

/// For each member whether it waits, judged by the list alone. A member that was let in under a larger size may seem
/// to wait.
std::vector<bool> who_waits(std::span<const member> members, std::int32_t size);

}  // namespace zkrecipes::detail
