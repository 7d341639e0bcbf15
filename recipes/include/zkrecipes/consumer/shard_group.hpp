// Many machines, each with its share of the shards of a service.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/consumer/shard_group_view.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// Settings of a `shard_group`. Those of planning count while this member is the planner, so all members should have
/// the same.
struct shard_group_options {
  /// Our name. It stays the same over restarts, and no other member has it at the same time. 1 to 256 bytes, no control
  /// characters.
  std::string id{};
  /// The number of shards, the same for all members: else `size_mismatch`. 1 to 10 000.
  std::uint32_t shards = 1;
  /// Our share of the shards is this number divided by the sum over all members. 0.001 to 1 000, in steps of 0.001.
  double capacity = 1;
  /// Shown to routers, such as the address of this process. At most 1 000 bytes.
  std::string data{};
  /// For how long our shards wait for us after `stop`, because we may be starting again under the same id. Unset: the
  /// session's timeout. 0: they are given to others at once. Up to 24 h.
  std::optional<std::chrono::milliseconds> grace{};

  /// Planning: for how long the planner waits for others after a member has joined. 0 to 60 s.
  std::chrono::milliseconds collect{200};
  /// Planning: the largest part of all shards that are on the way from one member to another at a time; at least one
  /// shard. Above 0, up to 1.
  double max_moves = 0.1;
  /// A shard is put in quarantine instead of beginning a term when so many terms in a row have ended by the death of
  /// the process, a stall or an exception without progress in between, at two members or more; three times as many if
  /// all were of one member. At most one counts in each `calm`, and those of a member most of whose shards fail do not
  /// count. A quarantine ends by itself after 12 times `calm`, with one term on probation; each that follows lasts
  /// twice as long, up to ten minutes. 0: never; 1: one process that dies puts all shards that it owned there. Up to 1
  /// 000.
  std::int32_t quarantine_after = 3;
  /// A term has made progress when it has committed, or executed for this long. With `quarantine_after` of 2 or more a
  /// member begins the shards that the next death would put in quarantine one after the other: the next when the one
  /// before has committed, has executed for a tenth of this, or has begun this long ago. 0 to 24 h.
  std::chrono::milliseconds calm{10'000};
};

/// One shard at this member.
struct shard_status {
  std::uint32_t number = 0;
  /// `taking_over` until the owner before has given it up or is gone; then the phases of a term.
  coordinator_phase phase = coordinator_phase::idle;
  lease_clock::time_point since{};  ///< When the phase began.
  std::int64_t epoch = 0;           ///< That of our last term; 0: there was none.
  std::uint64_t failures = 0;       ///< Those of its career, its factory and its take-overs, and a quarantine.
  std::string last_failure{};
};

/// The state of a member, as it knows it without asking a server.
struct shard_group_status {
  std::string member{};     ///< The name of our node while we are in the group.
  bool is_planner = false;  ///< Whether this member plans for all.
  /// Why it can not plan, or stand for planner, at the moment. It tries again every 30 s at the latest.
  error_code planner_error{};
  /// Why it is not in the group, while it is waited until people mend it (`no_auth`, say), or a server is less busy.
  error_code trouble{};
  bool is_draining = false;
  /// Why this member asks for no shards at the moment: the last failure, if most of its shards fail. Empty: it asks.
  std::string failing{};
  std::int64_t plan = 0;               ///< The number of the plan that our orders are of.
  std::vector<shard_status> shards{};  ///< Those that we own, are to own, or are giving up, by number.
};

namespace detail {
class group_member;
}

/// A member of the group at one path. The shards of the group are divided among its members, by their capacities; each
/// shard has one owner at a time, who runs a career for it, with a term, a record and a hand-over as those of a
/// `consumer_coordinator`. One of the members, which is elected, plans; the work on the shards does not wait for it.
/// docs/shard-groups.md describes the protocol and its guarantees. Thread safety: safe.
class shard_group {
 public:
  using executor_type = boost::asio::any_io_executor;
  /// Makes the career of one shard, anew whenever we are to own the shard. It is called on the strand of the session,
  /// and must not block. An exception, or null, is a failure of the shard here, and is tried again after a pause. The
  /// career is destroyed on the strand, too.
  using career_factory = std::function<std::unique_ptr<leader_career>(const shard&)>;

  shard_group() noexcept;  ///< No member, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path or option.
  shard_group(session over, std::string path, shard_group_options options);
  ~shard_group();  ///< As `stop`.
  shard_group(shard_group&&) noexcept;
  shard_group& operator=(shard_group&&) noexcept;

  /// Joins the group, and runs the careers of the shards that the planner gives us, until stopped. After the loss of
  /// the session it joins again. An exception of a career ends that term, not the run: the shard is tried again, with
  /// growing pauses (see `shard_status::failures`).
  ///
  /// Signature: `void(error_code)`.
  /// Errors: none after `stop` or `drain`; `busy` (it runs already), `bad_arguments` (no factory), `size_mismatch` (the
  /// group has another number of shards), `foreign_data` (a node at the path is not ours; or that of the planner's
  /// election, before anybody has planned: later it is tried again, see `shard_group_status::planner_error`), `no_node`
  /// (the session's root is missing), `no_children_for_ephemerals`, `invalid_acl`, `no_auth`, `sequence_exhausted`,
  /// `closed`, `auth_failed`.
  /// Cancellation: `total` and `partial` act as `stop`; `terminal` also cancels messages in hand. In each case all
  /// terms are handed over first, and no node of ours stays behind but the note for our return (`grace`).
  /// Thread safety: as the class says; each career is called on a strand of its own of the session's executor.
  /// Cost: 2 round trips to join, 1 more to receive orders after the plan. Each shard that we get 1 read and 1 write,
  /// then as a term of `consumer_coordinator`. A member has a watch on its node, those of a candidate for planner, and
  /// one or two for each shard that it waits for.
  template <token_for<> Token = default_token>
  auto async_run(career_factory make, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_run, member_, std::move(make));
  }

  /// Gives everything away in order, to the other members, and leaves the group; then `async_run` completes. Without
  /// another member that could take the shards it leaves them to nobody.
  void drain();
  /// Ends all terms, each with a hand-over, and leaves the group. The shards wait for us to come back for
  /// `shard_group_options::grace`.
  void stop();

  /// What this member does at the moment. It asks no server.
  shard_group_status status() const;

  /// Reads the state of the whole group.
  ///
  /// Signature: `void(error_code, shard_group_view)`.
  /// Errors: `no_node` (there is no group), `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips for up to 1 000 members and shards, and one more for each further thousand; 5 requests, and
  /// one for each member, shard, absent member and shard in quarantine.
  template <token_for<shard_group_view> Token = default_token>
  auto async_view(Token&& token = Token()) {
    return detail::initiate<void(error_code, shard_group_view)>(token, &start_view, member_);
  }

  /// True: from now on no shard is taken from a member, also not from one that drains. Shards of members that have gone
  /// are still given to others. False: the plan goes on. It holds for the group until it is changed, also over
  /// restarts.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node` (there is no group), `foreign_data` (another recipe uses the path), `no_auth`, and those of
  /// `session`.
  /// Cancellation: all types; it may have been done.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 2 requests.
  template <token_for<> Token = default_token>
  auto async_freeze(bool frozen, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_freeze, member_, frozen);
  }

  /// Ends the quarantine of a shard: it is assigned again, and its deaths are counted anew.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `bad_arguments` (there is no such shard), `no_node` (it is not in quarantine), `no_auth`, and those of
  /// `session`.
  /// Cancellation: all types; it may have been done.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 2 requests.
  template <token_for<> Token = default_token>
  auto async_release(std::uint32_t number, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_release, member_, number);
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const shard_group_options& options() const noexcept;
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using member_ptr = std::shared_ptr<detail::group_member>;
  static void start_run(detail::handler_for<void(error_code)>, member_ptr, career_factory);
  static void start_view(detail::handler_for<void(error_code, shard_group_view)>, member_ptr);
  static void start_freeze(detail::handler_for<void(error_code)>, member_ptr, bool);
  static void start_release(detail::handler_for<void(error_code)>, member_ptr, std::uint32_t);

  session session_;
  member_ptr member_;
};

}  // namespace zkrecipes
