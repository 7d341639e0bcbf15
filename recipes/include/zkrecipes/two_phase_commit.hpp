// All of the named participants do something, or none of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

enum class ballot { yes, no };

enum class decision {
  pending,
  committed,  ///< Every participant voted yes.
  aborted,    ///< A participant voted no, or did not vote in time.
};

const char* to_string(decision what) noexcept;

/// The decision on a transaction.
struct commit_outcome {
  zkrecipes::decision decision = decision::pending;
  std::string reason;  ///< Why it was aborted: the participant that refused and its reason, or the missing votes.
};

/// The vote of one participant.
struct commit_vote {
  std::string participant;
  zkrecipes::ballot ballot = ballot::no;
  std::string reason;
};

/// The state of one transaction.
struct commit_state {
  std::string data;  ///< As given to `async_begin`.
  std::vector<std::string> participants;
  std::vector<commit_vote> votes;  ///< In the order of `participants`, without those that have not voted.
  commit_outcome outcome;
  std::chrono::system_clock::time_point begun;  ///< By the server's clock.
};

/// Settings of a coordinator of `two_phase_commit`.
struct commit_coordinator_options {
  /// Our name, as the other coordinators see it. 1 to 256 bytes, no control characters.
  std::string id = "zkrecipes";
  /// How long a coordinator waits for the votes before it aborts, by its own clock, from when it first saw the
  /// transaction. 0 to 100 years.
  std::chrono::milliseconds vote_timeout{30'000};
  /// Transactions that were decided this long ago are removed; see `two_phase_commit::async_clean_up`. 0 to 100 years;
  /// 0: never.
  std::chrono::milliseconds retention{std::chrono::hours(24)};
  /// Called, while we lead, when a transaction could not be decided, with the reason, such as: we may not write it
  /// (`no_auth`), it is too large for `session_options::jute_maxbuffer`, or this recipe did not write it
  /// (`foreign_data`). The coordinator tries again for as long as it leads, with pauses that double from 1 s to 1 min.
  /// An empty id stands for the clean-up, which is tried again after a quarter of `retention`, at least 1 s. A hook:
  /// see docs/operations.md.
  std::function<void(const std::string& id, error_code why)> on_refused{};
};

/// Two-phase commit whose whole state is kept in ZooKeeper: the transactions, the votes, and the one decision about
/// each. So any party may die and come back, and any coordinator can finish what another one began.
///
/// A transaction is begun with its participants. Each participant votes once. A coordinator (`async_decide`, or an
/// elected `async_coordinate`) writes the decision: committed if all voted yes, aborted if the time is up. A vote of no
/// is an abort by itself. The decision is written once: every writer names the version of the undecided transaction,
/// and no vote is accepted after the decision. Participants that voted yes have to wait for the decision
/// (`async_outcome`), also after a restart. A mark, an empty node, lists each undecided transaction; it is moved away
/// after the decision.
///
/// Ids of transactions and names of participants: 1 to 256 bytes, without '/' and control characters. An id does not
/// begin with '_', is not "." or "..", and is never used again (an order number, a UUID).
///
/// Thread safety: safe. Cancellation of every operation: all types; what was already sent may take effect. Errors of
/// every operation, besides those it names: `foreign_data` (the node was not written by this recipe), `bad_arguments`
/// (a malformed id or name), `no_auth`, and those of `session`.
class two_phase_commit {
 public:
  using executor_type = boost::asio::any_io_executor;

  two_phase_commit() =
      default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path.
  two_phase_commit(session over, std::string path);

  /// Begins a transaction; `data` is what the participants need to know. `participants`: 1 to 1000, no two the same.
  /// All of it together has at most 900 000 bytes: the record as JSON, 10 000 for a reason, and for each participant
  /// 64, its name and the path of the transaction. The same with the session's root in front of each path has to fit
  /// into `session_options::jute_maxbuffer`, so that the session could write the decision.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `node_exists` (the id has been used), `outcome_unknown` (the reply was lost and the transaction is not
  /// there now: it was not begun, or has been cleaned up already), `bad_arguments` (bounds, or a malformed id or name),
  /// `too_large` (for `session_options::jute_maxbuffer`; nothing was begun), `foreign_data`, `no_auth`, and those of
  /// `session`.
  /// Cancellation: all types; the transaction may have been begun.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 2 requests; the first at a path 4, with the parents of the path 6.
  template <token_for<> Token = default_token>
  auto async_begin(std::string id, std::vector<std::string> participants, std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_begin, session_.get_core(), path_, std::move(id),
                                              std::move(participants), std::move(data));
  }

  /// Votes for one participant, with a reason of at most 10 000 bytes. Completes when the vote is safe, with the
  /// outcome as far as there is one. A vote that comes after the decision gets the decision and does not count. The
  /// same vote again, such as after a restart, is no error.
  ///
  /// Signature: `void(error_code, commit_outcome)`.
  /// Errors: `no_node` (there is no such transaction), `bad_arguments` (not a participant, a reason that is too long,
  /// or a malformed id or name), `node_exists` (this participant voted otherwise before, and that vote stands),
  /// `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: all types; the vote may have been cast.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 3 requests: a look (a transaction that changes nothing, and the record) and the vote. A vote
  /// given before 1 more. A vote of no decides, and moves the mark in the background as `async_decide` does.
  template <token_for<commit_outcome> Token = default_token>
  auto async_vote(std::string id, std::string participant, ballot vote, std::string reason, Token&& token = Token()) {
    return detail::initiate<void(error_code, commit_outcome)>(
        token, &start_vote, session_.get_core(), path_, std::move(id), std::move(participant), vote, std::move(reason));
  }

  /// Waits for the decision. A lost connection or the end of a session does not end the wait.
  ///
  /// Signature: `void(error_code, commit_outcome)`.
  /// Errors: `no_node` (never begun, or cleaned up), `bad_arguments`, `foreign_data`, `no_auth`, and those of
  /// `session`.
  /// Cancellation: all types; nothing is written.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 2 requests, with a watch of the record; then an event and the same again.
  template <token_for<commit_outcome> Token = default_token>
  auto async_outcome(std::string id, Token&& token = Token()) {
    return async_outcome_for(std::move(id), lease_clock::duration::max(), std::forward<Token>(token));
  }
  /// The same within a budget of time; zero or less has passed at once.
  ///
  /// Signature: `void(error_code, commit_outcome)`.
  /// Errors: `timed_out` (it is not decided as far as we know; nothing else changes), and those of `async_outcome`.
  /// Cancellation: as `async_outcome`.
  /// Thread safety: as the class says.
  /// Cost: as `async_outcome`.
  template <token_for<commit_outcome> Token = default_token>
  auto async_outcome_for(std::string id, time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code, commit_outcome)>(token, &start_outcome, session_.get_core(), path_,
                                                              std::move(id), budget);
  }

  /// Waits for the votes, within a budget of time, and decides. Several may do so at the same time: all of them get the
  /// one decision that was written. A budget of zero or less: decides by the votes that are there. Without a connection
  /// it goes on until the decision is written, however late.
  ///
  /// Signature: `void(error_code, commit_outcome)`.
  /// Errors: `no_node` (never begun, or cleaned up), `bad_arguments`, `foreign_data`, `no_auth`, and those of
  /// `session`.
  /// Cancellation: all types; the decision may have been written.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 3 requests to look, with watches; for each vote an event and 1 list; 1 round trip for the
  /// decision. Then the mark is moved in the background: 1, the first in an hour 3.
  template <token_for<commit_outcome> Token = default_token>
  auto async_decide(std::string id, time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code, commit_outcome)>(token, &start_decide, session_.get_core(), path_,
                                                              std::move(id), budget);
  }

  /// Reads how a transaction stands.
  ///
  /// Signature: `void(error_code, commit_state)`.
  /// Errors: `no_node` (never begun, or cleaned up), `bad_arguments`, `foreign_data`, `no_auth`, and those of
  /// `session`.
  /// Cancellation: all types; nothing is written.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips: 3 requests, then 1 for each participant.
  template <token_for<commit_state> Token = default_token>
  auto async_state(std::string id, Token&& token = Token()) {
    return detail::initiate<void(error_code, commit_state)>(token, &start_state, session_.get_core(), path_,
                                                            std::move(id));
  }

  /// Lists the ids of the transactions that are not decided, in no order; none if the path is missing.
  ///
  /// Signature: `void(error_code, std::vector<std::string>)`.
  /// Errors: `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: all types; nothing is written.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, and 1 for each twenty of them (2 if one of the twenty was decided and still has its mark),
  /// however many others are kept. Where an older version has left transactions without marks all are read, 2 for each
  /// twenty.
  template <token_for<std::vector<std::string>> Token = default_token>
  auto async_undecided(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<std::string>)>(token, &start_undecided, session_.get_core(),
                                                                        path_);
  }

  /// Removes transactions that were decided at least `age` ago, with their votes, and completes with their number.
  /// Those that were begun at least `age` ago and are not decided count as given up: they are aborted now, and removed
  /// once that is old. `age`: 0 or more; choose it longer than any party stays down, because later a party gets
  /// `no_node`. All ages are by the server's clock (the times of the nodes against that of a node just written), so no
  /// client's clock matters; where the clocks of two leading servers differ, so may the age.
  ///
  /// Signature: `void(error_code, std::size_t)`, the number; with an error that of the transactions removed before it.
  /// Errors: `bad_arguments` (a negative age), `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: all types; some may have been aborted or removed.
  /// Thread safety: as the class says.
  /// Cost: 5 round trips, 1 for each 20 undecided, 2 for each that is given up; for each hour that is old enough 2, 2
  /// for each 20 transactions in it, and 2 for each that is removed. The first clean-up after an older version reads
  /// everything once.
  template <token_for<std::size_t> Token = default_token>
  auto async_clean_up(time_span<std::chrono::milliseconds> age, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::size_t)>(token, &start_clean_up, session_.get_core(), path_, age);
  }

  /// Coordinates until it is cancelled: stands for election among those that do the same at this path. While it leads
  /// it decides every transaction, those first that others left undecided, and cleans up. It stands again when the
  /// leadership is lost.
  /// \throws std::invalid_argument naming the bad option.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `operation_aborted` (it was cancelled), `sequence_exhausted` (of the line of coordinators), `closed`,
  /// `auth_failed`, `foreign_data`, `no_auth`.
  /// Cancellation: all types; its place in line is given up in the background, and decisions that are not written are
  /// left to the next leader.
  /// Thread safety: as the class says; `commit_coordinator_options::on_refused` is called on the strand of the session.
  /// Cost: 1 round trip to get in line; when it begins to lead 3, and 1 look for each undecided transaction, all at
  /// once. A new vote 1 list; a decision 1, and 1 to move its mark (the first in an hour 3). Decided transactions that
  /// are kept cost nothing until they are cleaned up, as `async_clean_up`, every quarter of `retention`.
  template <token_for<> Token = default_token>
  auto async_coordinate(commit_coordinator_options options, Token&& token = Token()) {
    check(options);
    return detail::initiate<void(error_code)>(token, &start_coordinate, session_.get_core(), path_, std::move(options));
  }

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  using outcome_handler = detail::handler_for<void(error_code, commit_outcome)>;
  static void check(const commit_coordinator_options&);
  static void start_begin(detail::handler_for<void(error_code)>, core_ptr, std::string, std::string,
                          std::vector<std::string>, std::string);
  static void start_vote(outcome_handler, core_ptr, std::string, std::string, std::string, ballot, std::string);
  static void start_outcome(outcome_handler, core_ptr, std::string, std::string, lease_clock::duration);
  static void start_decide(outcome_handler, core_ptr, std::string, std::string, lease_clock::duration);
  static void start_state(detail::handler_for<void(error_code, commit_state)>, core_ptr, std::string, std::string);
  static void start_undecided(detail::handler_for<void(error_code, std::vector<std::string>)>, core_ptr, std::string);
  static void start_clean_up(detail::handler_for<void(error_code, std::size_t)>, core_ptr, std::string,
                             std::chrono::milliseconds);
  static void start_coordinate(detail::handler_for<void(error_code)>, core_ptr, std::string,
                               commit_coordinator_options);

  session session_;
  std::string path_;
};

}  // namespace zkrecipes
