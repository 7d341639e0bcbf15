// The format of a double barrier in ZooKeeper, as pure functions that are easy to test.
//
// The data of the barrier's node is the record of the last round that was opened:
//   {"zkrecipes":"double_barrier","round":7,"members":["6b1f...", "09ac...", ...],"places":[12, 13, ...]}
// Each member, waiting or inside, is a child whose name holds its GUID, the size it came for, and its place in line:
//   _c_6b1f...-3-member-0000000012
// A member of a round is one node, identified by its GUID and its place. If the reply to an entry is lost and somebody
// removes the node, the entry creates another node with the same GUID: that is another member.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/json_object.hpp"
#include "line/node_name.hpp"

namespace zkrecipes::detail {

/// One transaction opens a round, and the size of a transaction is limited.
inline constexpr int max_members = 1000;

/// The markers of the names of members, for rounds of any size.
std::span<const std::string_view> meeting_markers();
/// The marker of our own names.
std::string meeting_marker(int size);

struct attendant {
  std::string name;
  std::string guid;
  int size = 0;
  std::int32_t place = 0;
};

struct round_record {
  std::int64_t round = 0;
  std::vector<std::string> members;  ///< GUIDs.
  std::vector<std::int32_t> places;  ///< Numbers of their nodes. Empty in records of an older version: GUIDs decide.
  json_object unknown_fields{};      ///< Fields that a later version of the library has added.

  bool names(const attendant& who) const;
  bool knows(const std::string& guid) const;  ///< Whatever the number of its node.
  void add(const attendant& who);
};

std::string serialize(const round_record& record);
/// Nothing if the data is not such a record. Empty data: there has been no round.
std::optional<round_record> parse_round(const std::string& data);

/// Parses the name of a member; nothing if the name is not a member's.
std::optional<attendant> parse_attendant(const member& who);

/// A double barrier as seen by a client that comes for a round of a given size.
struct gathering {
  round_record record;
  std::int32_t version = 0;        ///< Of the record.
  std::vector<attendant> inside;   ///< Members of the last round who have not left.
  std::vector<attendant> waiting;  ///< For a round of this size, in order; each GUID once.
  std::vector<attendant> own;      ///< Our own nodes.
  int first_size = 0;              ///< The size that the first of all members came for; 0: there is none.

  /// Whether the next round can be opened: the last one is over, and enough members wait.
  bool can_open(int size) const { return inside.empty() && waiting.size() >= static_cast<std::size_t>(size); }
  /// The position of a member among those who wait; nothing if it does not wait.
  std::optional<std::size_t> position(const std::string& guid) const;
};

/// Nothing if the data is not a record. `self`: our GUID.
std::optional<gathering> interpret(const std::string& data, std::int32_t version, const std::vector<member>& line,
                                   int size, const std::string& self);

/// The members of a round that are in the line.
std::vector<attendant> still_inside(const std::vector<member>& line, const round_record& record);

}  // namespace zkrecipes::detail
