// The state of a shard group at one moment: plain data, the same for every way to show it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/shard_group_view.hpp>
#include <zkrecipes/session.hpp>

#include "cluster/status.hpp"

namespace zkadmin {

using shard_numbers = std::vector<std::uint32_t>;  ///< In ascending order.

struct group_member_status {
  std::string id;
  std::string node;  ///< Name of its node.
  double capacity = 1;
  bool is_draining = false;
  std::int64_t plan = 0;     ///< The plan that its orders are of; 0: it has none yet.
  std::string data;          ///< The user's.
  shard_numbers owned{};     ///< It is to own them, and its term goes on.
  shard_numbers expected{};  ///< It is to own them, and has not begun its term.
  bool is_drained = false;   ///< An operator wants it to have no shards.
  std::string failing{};     ///< Why it gives its shards to others; empty: it does not.
  std::int64_t returns = 0;  ///< How often in a row it has come back soon after it had joined.
  friend bool operator==(const group_member_status&, const group_member_status&) = default;
};

/// A shard on the way to the member that is to own it.
struct shard_move_status {
  std::uint32_t shard = 0;
  std::string from;        ///< Id of the last owner; empty: nobody has owned it yet.
  bool from_gone = false;  ///< The node of the last owner is not there any more.
  std::string to;          ///< Id of the member that is to own it.
  std::string phase;       ///< The phase of the last term.
  /// For how long the record of the shard says so, by this machine's clock against the server's; nothing if there was
  /// no term.
  std::optional<std::chrono::milliseconds> age{};
  /// For how long the member has had the order and the record has not changed, by the same clocks; nothing if that is
  /// not known. A new plan for the member begins it anew.
  std::optional<std::chrono::milliseconds> waits{};
  friend bool operator==(const shard_move_status&, const shard_move_status&) = default;
};

struct quarantined_shard {
  std::uint32_t shard = 0;
  std::int64_t deaths = 0;  ///< Terms in a row that ended by a death.
  std::string last_owner;   ///< Its id.
  friend bool operator==(const quarantined_shard&, const quarantined_shard&) = default;
};

/// A member that has stopped, and whose shards wait for it.
struct absent_member_status {
  std::string id;
  std::chrono::milliseconds grace{0};
  /// How long ago it stopped, by this machine's clock against the server's; nothing if it is not known.
  std::optional<std::chrono::milliseconds> age{};
  shard_numbers shards{};
  friend bool operator==(const absent_member_status&, const absent_member_status&) = default;
};

/// A shard that an operator has given to a member.
struct pinned_shard {
  std::uint32_t shard = 0;
  std::string member;         ///< Its id.
  std::string assigned_to{};  ///< Id of the member that is to own it now; empty: nobody.
  friend bool operator==(const pinned_shard&, const pinned_shard&) = default;
};

struct group_status {
  std::string path;
  std::uint32_t shards = 0;
  bool frozen = false;
  std::string planner{};                         ///< Id of the member that plans; empty: nobody does, or unknown.
  bool planner_unknown = false;                  ///< The planners' election can not be read.
  std::vector<group_member_status> members{};    ///< Sorted by id.
  std::vector<shard_move_status> moves{};        ///< By number of the shard.
  std::vector<quarantined_shard> quarantined{};  ///< By number.
  std::vector<absent_member_status> away{};      ///< Sorted by id.
  std::vector<pinned_shard> pins{};              ///< By number.
  shard_numbers still{};                         ///< A call of `process` of their owners has run for long.
  std::string still_message{};                   ///< The name of its message, of the first of these; empty: unknown.
  std::vector<std::string> drained{};            ///< Ids of members that an operator drains, also if they are away.
  shard_numbers waiting{};                       ///< Shards that wait for absent members.
  shard_numbers unassigned{};                    ///< No member is to own them, and none of the reasons above holds.
  shard_numbers held_off{};                      ///< All attempts of their consumers fail.
  std::string held_off_reason{};                 ///< Why, of the first of these.
  /// For how long nothing has changed although no member is there: since the last record was written, or the grace of
  /// an absent member ended. By this machine's clock against the server's; nothing if it is not so, or not known.
  std::optional<std::chrono::milliseconds> deserted_for{};
  bool has_open_terms = false;  ///< No member is there, and the term of an unassigned shard goes on.
  /// The same while members are there, of those that are unassigned: since the last order of any member, too.
  std::optional<std::chrono::milliseconds> unassigned_for{};
  friend bool operator==(const group_status&, const group_status&) = default;
};

/// Each shard is owned, moving, waiting, quarantined or unassigned.
std::size_t owned_count(const group_status& group) noexcept;

/// "active", "draining" or, if an operator drains it, "drained".
const char* state_of(const group_member_status& member) noexcept;

/// "0-3,9".
std::string ranges(const shard_numbers& numbers);

/// The leader of the planners' election, which the library's view does not have.
struct group_planner {
  std::string id{};
  bool is_unknown = false;  ///< The election can not be read.
};

/// `now` is the time of this machine's clock.
group_status status_of(std::string path, const zkrecipes::shard_group_view& view, const group_planner& planner,
                       std::chrono::system_clock::time_point now);

using group_survey = survey<group_status>;

// Reads a shard group, which takes a ZooKeeper session.

/// The present state of the group at `path`. Errors: those of `shard_group::async_view`. Throws `failure` if the rest
/// can not be read.
boost::asio::awaitable<reading<group_status>> read_group(zkrecipes::session session, std::string path);

/// The planner of a group, by the election of its planners; null: there is none.
group_planner planner_of(const election_status* election);

}  // namespace zkadmin
