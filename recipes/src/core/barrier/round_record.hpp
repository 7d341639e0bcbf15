// The record of a double barrier's last round, and how the members of a round are stored in ZooKeeper.
//
// The data of the barrier's node is the record of the last round that was opened:
//   {"zkrecipes":"double_barrier","round":7,"members":["6b1f...", "09ac...", ...],"places":[12, 13, ...]}
// Each member, waiting or inside, is a child whose name holds its GUID, the size it came for, and its place in line:
//   _c_6b1f...-3-member-0000000012
// A member of a round is one node, identified by its GUID and its place. If the reply to an entry is lost and somebody
// removes the node, the entry creates another node with the same GUID: that is another member.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/json_object.hpp"
#include "line/line_spec.hpp"

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
