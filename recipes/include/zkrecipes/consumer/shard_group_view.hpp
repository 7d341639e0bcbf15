// The state of a shard group, as its nodes tell it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/election.hpp>

namespace zkrecipes {

/// A member that is there.
struct group_member_view {
  std::string node;  ///< The name of its node, which no other member has or will have.
  std::string id;
  std::string data;     ///< See `shard_group_options::data`.
  double capacity = 1;  ///< See `shard_group_options::capacity`.
  bool is_draining = false;
  std::string failing{};                ///< See `shard_group_status::failing`.
  std::int64_t returns = 0;             ///< How often in a row it has come back soon after it had joined, in no order.
  std::int64_t plan = 0;                ///< The number of the plan that its orders are of; 0: it has none yet.
  std::vector<std::uint32_t> shards{};  ///< The shards that it is to own.
  /// When its node, which has its orders, was last written: by the server's clock, in milliseconds since 1970.
  std::int64_t since = 0;
  bool is_drained = false;  ///< An operator wants it to have no shards; it may not know.
};

/// A member that has stopped, and whose shards wait for it.
struct absent_member_view {
  std::string id;
  std::chrono::milliseconds grace{0};
  std::vector<std::uint32_t> shards{};
  std::int64_t since = 0;  ///< When it stopped, by the server's clock, in milliseconds since 1970.
};

/// What the node of a shard in quarantine says.
struct quarantine_view {
  std::int64_t deaths = 0;   ///< Terms in a row that ended by a death.
  std::string last_owner{};  ///< Its id.
};

/// One shard, as its record says.
struct shard_view {
  std::uint32_t number = 0;
  std::int64_t epoch = 0;  ///< 0: nobody has owned it yet.
  term_phase phase = term_phase::none;
  takeover how = takeover::first;
  std::string owner{};        ///< The id of the leader of its last term.
  std::string owner_node{};   ///< The name of that member's node.
  std::int64_t deaths = 0;    ///< See `shard_group_options::quarantine_after`.
  std::int64_t since = 0;     ///< When the record was last written, by the server's clock, in milliseconds since 1970.
  std::string assigned_to{};  ///< The name of the node of the member that is to own it; empty: nobody.
  bool is_in_quarantine = false;
  quarantine_view quarantine{};  ///< While it is in quarantine.
  bool is_still = false;         ///< See `election_view::is_still`.
  std::string still_message{};   ///< See `election_view::still_message`.
  std::string pinned_to{};       ///< The id of the member that an operator wants to own it; empty: it is not pinned.
  std::string held_off{};        ///< See `queue_consumer_status::held_off`, of its consumer; empty: it is not so.

  /// Whether the member that is to own it has not begun its term.
  bool is_moving() const noexcept {
    const bool has_ended = phase == term_phase::retired || phase == term_phase::stalled || phase == term_phase::died;
    const bool has_term = phase != term_phase::none && !has_ended;
    return !assigned_to.empty() && (!has_term || owner_node != assigned_to);
  }
};

/// The whole group. Its parts were read one after the other, so they are not all as of one moment.
struct shard_group_view {
  std::uint32_t count = 0;  ///< The number of shards.
  bool is_frozen = false;
  std::vector<group_member_view> members{};  ///< In the order of their nodes' names.
  std::vector<absent_member_view> away{};
  std::vector<shard_view> shards{};    ///< By number.
  std::vector<std::string> drained{};  ///< Ids of all members that an operator drains, also if they are not there.
  std::uint64_t revision = 0;  ///< Another number for each state that a `shard_group_follower` shows. 0: `async_view`.
};

}  // namespace zkrecipes
