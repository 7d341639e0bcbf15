// What a member of a double barrier reads from the record and the line: pure functions that are easy to test.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/json_object.hpp"
#include "line/line_spec.hpp"

namespace zkrecipes::detail {

// The record of a double barrier's last round, and how the members of a round are stored in ZooKeeper.
//
// The data of the barrier's node is the record of the last round that was opened:
// {"zkrecipes":"double_barrier","round":7,"members":["6b1f...", "09ac...", ...],"places":[12, 13, ...]}
// Each member, waiting or inside, is a child whose name holds its GUID, the size it came for, and its place in line:
// _c_6b1f...-3-member-0000000012
// A member of a round is one node, identified by its GUID and its place. If the reply to an entry is lost and somebody
// removes the node, the entry creates another node with the same GUID: that is another member.

// A member of a double barrier as the name of its node describes it.

/// The markers of the names of members, for rounds of any size.
std::span<const std::string_view> round_markers();
/// The marker of our own names.
std::string round_marker(int size);

struct round_member {
  std::string name;
  std::string guid;
  int size = 0;
  std::int32_t place = 0;
};

/// Parses the name of a member; nothing if the name is not a member's.
std::optional<round_member> parse_round_member(const member& who);

/// The number of the last round that there can be. No round follows it.
inline constexpr auto last_round = std::numeric_limits<std::int64_t>::max() - 1;

struct round_record {
  std::int64_t round = 0;
  std::vector<std::string> members;  ///< GUIDs.
  std::vector<std::int32_t> places;  ///< Numbers of their nodes. Empty in records of an older version: GUIDs decide.
  json_object unknown_fields{};      ///< Fields that a later version of the library has added.

  bool names(const round_member& who) const;
  bool knows(const std::string& guid) const;  ///< By its GUID alone: its node may have another number.
  void add(const round_member& who);
};

std::string serialize(const round_record& record);
/// Nothing if the data is not such a record. Empty data: there has been no round.
std::optional<round_record> parse_round(const std::string& data);

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
  /// Whether the view is of this record and of these members.
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
