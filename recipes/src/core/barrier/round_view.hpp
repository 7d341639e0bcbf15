// What a member of a double barrier reads from the record and the line: pure functions that are easy to test.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "barrier/round_record.hpp"
#include "line/line_spec.hpp"

namespace zkrecipes::detail {

/// A double barrier as seen by a client that comes for a round of a given size.
struct round_view {
  using places = std::unordered_map<std::string, std::size_t>;

  round_record record;
  std::int32_t version = 0;              ///< The version of the record.
  std::vector<round_member> inside;      ///< Members of the last round who have not left.
  std::vector<round_member> waiting;     ///< For a round of this size, in order; each GUID once.
  std::vector<round_member> superseded;  ///< Those who waited, had they not made another node since.
  int first_size = 0;                    ///< The size that the first of all members came for; 0: there is none.
  places inside_at;                      ///< By the names of the nodes.
  places waiting_at;                     ///< By GUID.
  std::vector<std::string> names;        ///< All who are in the line.

  /// Whether the next round can be opened: the last one is over, and enough members wait.
  bool can_open(int size) const { return inside.empty() && waiting.size() >= static_cast<std::size_t>(size); }
  /// The position of a member among those who wait; nothing if it does not wait.
  std::optional<std::size_t> position(const std::string& guid) const;
  /// Whether the record names the member, by this node or by another one that is there.
  bool admits(const round_member& who) const;
  std::vector<std::string> nodes_of(const std::string& guid) const;
  /// The same record and the same members.
  bool shows(const round_record& other, std::int32_t its_version, std::span<const member> line) const;
};

using round_view_ptr = std::shared_ptr<const round_view>;

round_view interpret(round_record record, std::int32_t version, std::span<const member> line, int size);

/// What it is once these members of a view are the next round.
round_view opened(const round_view& seen, int size);

/// The members of a round that are in the line. `round`: as one of them has seen it when it was let in.
std::vector<std::shared_ptr<const round_member>> still_inside(std::span<const member> line,
                                                              const round_view_ptr& round);

}  // namespace zkrecipes::detail
