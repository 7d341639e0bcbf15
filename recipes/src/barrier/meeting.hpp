// How a double barrier looks in ZooKeeper: pure, so that it can be reasoned about.
//
// Its node's data is the record of the last round that was opened:
//   {"zkrecipes":"double_barrier","round":7,"members":["6b1f...", "09ac...", ...],"places":[12, 13, ...]}
// and each member, waiting or inside, is a child with its GUID, the size it came for, and its place in line:
//   _c_6b1f...-3-member-0000000012
// A member of a round is one node, named by its GUID and its place: where the reply to an entry is lost and somebody
// removes the node, it is made again with the same GUID, and is another one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "line/node_name.hpp"

namespace zkrecipes::detail {

/// One transaction has to open a round, and its size is limited.
inline constexpr int most_members = 1000;

/// Of the names of members, whatever their size.
std::span<const std::string_view> meeting_markers();
/// Of ours.
std::string meeting_marker(int size);

struct attendant {
  std::string name;
  std::string guid;
  int size = 0;
  std::int32_t place = 0;
};

struct round_record {
  std::int64_t round = 0;
  std::vector<std::string> members;   ///< GUIDs.
  std::vector<std::int32_t> places;   ///< Numbers of their nodes. None: an older version wrote it, GUIDs have to do.

  bool names(const attendant& who) const;
  bool knows(const std::string& guid) const;  ///< By whatever node.
  void add(const attendant& who);
};

std::string serialize(const round_record& record);
/// Nothing if the data is not such a record. Empty data: there has been no round.
std::optional<round_record> parse_round(const std::string& data);

/// What the name of a member says; nothing if it is not one.
std::optional<attendant> parse_attendant(const member& who);

/// What somebody who comes for a meeting of this size sees.
struct gathering {
  round_record record;
  std::int32_t version = 0;         ///< Of the record.
  std::vector<attendant> inside;    ///< Members of the last round who have not left.
  std::vector<attendant> waiting;   ///< For a round of this size, in order; nobody twice.
  std::vector<attendant> own;       ///< Our own nodes.
  int first_size = 0;               ///< What the first of all came for; 0: there is nobody.

  /// The next round can be opened: the last one is over, and enough are there.
  bool can_open(int size) const { return inside.empty() && waiting.size() >= static_cast<std::size_t>(size); }
  /// Where somebody stands among those who wait; nothing if it does not.
  std::optional<std::size_t> position(const std::string& guid) const;
};

/// Nothing if the data is not a record. `self`: our GUID.
std::optional<gathering> interpret(const std::string& data, std::int32_t version, const std::vector<member>& line,
                                   int size, const std::string& self);

/// Those of the line who are members of a round.
std::vector<attendant> still_inside(const std::vector<member>& line, const round_record& record);

}  // namespace zkrecipes::detail
