// One state of the modelled group: one shard and its record, the members and the planners.
#pragma once

#include <array>
#include <cstdint>

namespace model {

inline constexpr int max_members = 3;
inline constexpr int max_planners = 2;

/// In the place of a member: the record has no owner, as no term has begun yet or the last one has retired.
inline constexpr int no_owner = max_members;
/// In the place of an owner or an heir: it is not known, or not chosen.
inline constexpr int unknown = max_members + 1;

enum class life : std::uint8_t {
  absent,  ///< It has not joined yet.
  alive,   ///< Its lease runs.
  lapsed,  ///< It is cut off: its lease has run out, and its member node is still there.
  ended,   ///< Its member node has gone.
  asleep   ///< Its member node has gone, and it does not know, because its process is stopped.
};

/// A write whose answer a member waits for. It is sent from the version of the record that the member knows.
enum class request : std::uint8_t {
  none,
  claim,            ///< Not executed yet.
  claim_done,       ///< Executed; the answer is under way.
  retirement,       ///< Not executed yet.
  retirement_done,  ///< Executed; the answer is under way.
  refused           ///< The version was another one; the answer is under way.
};

/// A set of members, one bit each.
using member_set = std::uint8_t;
constexpr member_set only(int member) { return static_cast<member_set>(1u << member); }
constexpr bool has(member_set all, int member) { return ((all >> member) & 1) != 0; }

/// An incarnation: a member that starts again is another one.
struct member {
  life is = life::absent;
  bool inbox = false;       ///< Its inbox, at the server, lists the shard.
  bool order = false;       ///< What it has read there last.
  int seen = unknown;       ///< The owner in the record, as it has read or written it last.
  bool is_current = false;  ///< The record has still the version of `seen`. The server sees this, the member does not.
  bool is_over = false;     ///< `seen` is this member, in a term that it has handed over.
  member_set gone = 0;      ///< The members whose nodes it has not found, or that it was told have ended.
  bool in_term = false;
  request sent = request::none;
  /// It waits no longer for the answer to such a write, and the server may still execute it.
  bool late_claim = false;
  bool late_retirement = false;

  bool has_node() const { return is == life::alive || is == life::lapsed; }
  /// It works on the shard: its lease has not run out, or it has not had the time to notice.
  bool believes() const { return in_term && (is == life::alive || is == life::asleep); }
};

/// Its epoch is its index.
struct planner {
  bool has_looked = false;  ///< It has taken the first of its two looks.
  member_set seen = 0;      ///< What it saw there; then the members whose inboxes it is to write.
  int heir = unknown;       ///< The member that is to own the shard.
};

struct state {
  int owner = no_owner;  ///< The incarnation that the record names.
  bool is_over = false;  ///< The owner has handed over the term of the record. Only the owner can tell by the record.
  int epoch = 0;         ///< The planner that the term record of the planners names.
  std::array<member, max_members> members;
  std::array<planner, max_planners> planners;
};

/// How many of both there are. A state fits into 64 bits, except if there are the most of both.
struct group_size {
  int members = 2;
  int planners = 2;
};

/// The whole state as one number.
std::uint64_t pack(const state& what, group_size size);
state unpack(std::uint64_t packed, group_size size);

}  // namespace model
