// Plans for all members of a shard group in one term.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <zkrecipes/lease_clock.hpp>

#include "career/term_state.hpp"
#include "group/children_view.hpp"
#include "session/background.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "shards/group_frame.hpp"
#include "shards/group_layout.hpp"
#include "shards/shard_assignment.hpp"
#include "shards/shard_quarantine.hpp"

namespace zkrecipes::detail {

/// How often members of a shard group come back, as a process does that a supervisor starts again and again.
/// A member that comes back under its id gets its shards at once. After the second time in a row, soon after it had
/// joined or without having begun a shard, it is on probation: it gets none before it has stayed for a while. The
/// number stands in the member's orders, too, for the next planner: one that owns a shard has stayed. On the strand.
class member_returns {
 public:
  /// `soon`: a member that was there for less has not proved that it stays.
  explicit member_returns(std::chrono::milliseconds soon) : soon_(soon) {}

  /// Notes who is there, and fills in what is known of them. `next`: when a probation ends, if that is earlier.
  void look(std::vector<listed_member>& members, const std::vector<away_record>& away, lease_clock::time_point now,
            lease_clock::time_point& next);

 private:
  struct incarnation {
    std::string node;
    std::int32_t sequence = 0;
    std::int64_t joined_ms = 0;
    std::int64_t returns = 0;
    bool has_begun = false;     ///< A shard.
    bool has_expected = false;  ///< It was to own some.
    bool is_orderly = false;    ///< Its end.
    lease_clock::time_point first_seen{};
    lease_clock::time_point last_seen{};
  };

  incarnation join(const listed_member& member, lease_clock::time_point now) const;

  std::chrono::milliseconds soon_;
  std::map<std::string, incarnation> last_;  // by id
};

// Follows the records of shards that are on their way to a new owner.

class moving_shards {
 public:
  /// `changed` is notified when one of the records has changed.
  moving_shards(group_frame_ptr group, condition& changed) : group_(std::move(group)), changed_(changed) {}

  /// Looks at the records of the shards that are on their way and may have changed since the last look. Notes in `plan`
  /// those whose owner to be has begun its term, and those that have had no owner for so long that the owner to be has
  /// some trouble. `next`: when that will be told of another one, if that is earlier. One round trip.
  awaitable<error_code> look(shard_assignment& plan, lease_clock::time_point& next);

 private:
  struct slot {
    std::unique_ptr<watch> hint;
    std::string owner;  ///< The member's node that the record names.
    std::string to;     ///< The owner to be.
    lease_clock::time_point free_since = never;
  };

  awaitable<error_code> read(std::vector<std::uint32_t> shards);
  error_code accept(std::uint32_t shard, const backend::reply& node);

  group_frame_ptr group_;
  condition& changed_;
  std::map<std::uint32_t, slot> slots_;
};

// The notes of members that have stopped and may come back.

class away_notes {
 public:
  /// `changed` is notified when there is another note, or one less.
  away_notes(group_frame_ptr group, condition& changed) : group_(std::move(group)), changed_(changed) {}

  /// Reads the notes if they may have changed. A member leaves its note in the transaction that removes its node, so
  /// the servers have told of the note before they answer that the node is missing: a look behind a list without the
  /// node finds the note. One round trip if there are none.
  awaitable<error_code> look();

  /// Those whose grace is not over, which counts from when we saw the note. `next`: when the next one ends, if that is
  /// earlier.
  std::vector<away_record> waiting(lease_clock::time_point& next) const;
  /// The ids of those whose grace is over.
  std::vector<std::string> over() const;
  /// The version of a note; nothing if there is none.
  std::optional<std::int32_t> version_of(const std::string& id) const;

 private:
  struct note {
    away_record record;
    node_stat stat;
    lease_clock::time_point since;
  };

  awaitable<error_code> read();

  group_frame_ptr group_;
  condition& changed_;
  std::unique_ptr<watch> hint_;
  std::map<std::string, note> notes_;  // by id
};

/// It keeps no state that matters: each step begins with what the nodes say. On the strand.
class planner : public std::enable_shared_from_this<planner> {
 public:
  using trouble_listener = std::function<void(const error_code&)>;

  /// `on_trouble` is called after each step, with why it could not be done.
  planner(group_frame_ptr group, term_ptr term, trouble_listener on_trouble);

  /// Until the term is to end.
  awaitable<void> run();

 private:
  using time_point = lease_clock::time_point;

  awaitable<void> listen();
  awaitable<time_point> step();
  awaitable<time_point> plan(children_snapshot members);
  awaitable<error_code> check_records();
  awaitable<error_code> check_frozen();
  awaitable<error_code> check_map();
  time_point again(const error_code& error);
  bool can_see_members();
  bool can_see_notes();
  bool shows_what_was_written(const children_snapshot& members) const;
  std::vector<listed_member> listed(const children_snapshot& members);
  shard_set quarantined() const;
  operator_notes wishes() const;
  std::map<std::uint32_t, std::string> gone_owners(const children_snapshot& members) const;
  time_point due_at(const shard_assignment& plan);
  awaitable<error_code> write(const shard_assignment& plan);
  awaitable<error_code> write_orders(std::vector<shard_assignment::order> orders);
  awaitable<void> forget_notes(std::vector<std::string> ids);
  awaitable<void> end_quarantines(std::vector<quarantine_terms::ended> over);
  bool is_map_due() const;
  awaitable<time_point> write_map(const shard_assignment& plan, children_snapshot members);
  time_point now() const { return session()->now(); }
  const core_ptr& session() const noexcept { return group_->session; }

  group_frame_ptr group_;
  term_ptr term_;
  trouble_listener on_trouble_;
  error_code trouble_;  // of the present step
  condition changed_;   // something that we look at
  condition news_;
  bool has_news_ = false;
  background listener_;
  children_reader_ptr members_;
  children_reader_ptr quarantines_;
  children_reader_ptr notes_;                                 // of an operator
  std::map<child_ptr, std::optional<member_record>> parsed_;  // the members' data
  moving_shards moving_;
  away_notes away_;
  member_returns returns_;
  quarantine_terms terms_;
  std::unique_ptr<watch> records_hint_;
  std::unique_ptr<watch> frozen_hint_;
  bool is_frozen_ = false;
  std::unique_ptr<watch> map_hint_;
  std::set<std::uint32_t> remade_;               // shards whose records were missing, and were made
  std::map<std::string, std::int32_t> written_;  // versions of members' nodes that the view may not show yet
  std::set<std::string> known_newcomers_;
  time_point first_came_{};
  time_point last_came_{};
  shard_owners last_owners_;  // as of the step before
  std::string shown_map_;
  children_snapshot mapped_;      // the members that it shows
  std::int64_t map_written_ = 0;  // the transaction that wrote it
  time_point map_shown_at_{};
};

}  // namespace zkrecipes::detail
