// What a member of a double barrier reads from the record and the line: pure functions that are easy to test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "barrier/round_record.hpp"
#include "line/node_name.hpp"

namespace zkrecipes::detail {

/// A double barrier as seen by a client that comes for a round of a given size.
struct round_view {
  round_record record;
  std::int32_t version = 0;           ///< The version of the record.
  std::vector<round_member> inside;   ///< Members of the last round who have not left.
  std::vector<round_member> waiting;  ///< For a round of this size, in order; each GUID once.
  std::vector<round_member> own;      ///< Our own nodes.
  int first_size = 0;                 ///< The size that the first of all members came for; 0: there is none.

  /// Whether the next round can be opened: the last one is over, and enough members wait.
  bool can_open(int size) const { return inside.empty() && waiting.size() >= static_cast<std::size_t>(size); }
  /// The position of a member among those who wait; nothing if it does not wait.
  std::optional<std::size_t> position(const std::string& guid) const;
};

/// Nothing if the data is not a record. `self`: our GUID.
std::optional<round_view> interpret(const std::string& data, std::int32_t version, const std::vector<member>& line,
                                    int size, const std::string& self);

/// The members of a round that are in the line.
std::vector<round_member> still_inside(const std::vector<member>& line, const round_record& record);

}  // namespace zkrecipes::detail
