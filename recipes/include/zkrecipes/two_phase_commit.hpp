// All of the named participants do it, or none.
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
  aborted,    ///< Somebody voted no, or not in time.
};

const char* to_string(decision what) noexcept;

struct commit_outcome {
  zkrecipes::decision decision = decision::pending;
  std::string reason;  ///< Of an abort: who refused and why, or who was waited for.
};

struct commit_vote {
  std::string participant;
  zkrecipes::ballot ballot = ballot::no;
  std::string reason;
};

/// How one transaction stands.
struct commit_state {
  std::string data;  ///< As it was begun with.
  std::vector<std::string> participants;
  std::vector<commit_vote> votes;  ///< In the order of `participants`; who has not voted is missing.
  commit_outcome outcome;
  std::chrono::system_clock::time_point begun;  ///< By the server's clock.
};

struct commit_coordinator_options {
  /// Who we are, as the other coordinators see it; at most 256 bytes, no control characters.
  std::string id = "zkrecipes";
  /// How long a coordinator waits for votes, by its own clock, counted from when it first saw the transaction; then it
  /// aborts. 0 or more.
  std::chrono::milliseconds patience{30'000};
  /// Transactions that were decided so long ago are removed; see `two_phase_commit::async_clean_up`. Zero: never.
  std::chrono::milliseconds keep{std::chrono::hours(24)};
  /// Told, while we lead, that a transaction could not be decided, and why: no right to write it (`no_auth`), too large
  /// for `session_options::jute_maxbuffer`, not written by this recipe (`foreign_data`). It is tried again for as long as
  /// we lead, with pauses that double from 1 s to 1 min. An empty id: of the clean-up. Called on the session's executor;
  /// it must not block.
  std::function<void(const std::string& id, error_code why)> on_refused{};
};

/// Two-phase commit, with everything that has been said kept in ZooKeeper: what is begun, who voted what, and the one
/// decision. So any party may die and come back, and any coordinator can finish what another began.
///
/// A transaction is begun with its participants. Each votes once. Whoever coordinates (`async_decide`, or an elected
/// `async_coordinate`) writes the decision: committed if all voted yes, aborted if the time is up; a vote of no is an
/// abort by itself. The decision is written once: every writer names the version of the undecided transaction, and no
/// vote is accepted behind it. Participants that voted yes have to wait for it (`async_outcome`), also after a restart.
///
/// Ids of transactions and names of participants: 1 to 256 bytes, without '/' and control characters; an id does not
/// begin with '_' and is never used again (an order number, a UUID).
///
/// Thread safety: safe. Cancellation of every operation: all types; what was already sent may take effect.
/// Errors of every operation, besides those it names: `foreign_data` (the node was not written by this recipe),
/// `bad_arguments` (a malformed id or name), `no_auth`, and those of `session`.
class two_phase_commit {
 public:
  /// \throws std::invalid_argument naming the bad path.
  two_phase_commit(session over, std::string path);

  /// Begins a transaction, with whatever the participants need to know. Two round trips. `participants`: 1 to 1000, no
  /// two the same. All together at most 900 000 bytes.
  /// Errors: `node_exists` (the id has been used), `outcome_unknown` (the reply was lost and it is not there now: it was
  /// not begun, or has been cleaned up already), `bad_arguments`.
  template <class Token>
  auto async_begin(std::string id, std::vector<std::string> participants, std::string data, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_begin, session_.get_core(), path_, std::move(id),
                                              std::move(participants), std::move(data));
  }

  /// Votes, with a reason of at most 10 000 bytes. Two round trips. Completes when the vote is safe, with the outcome as
  /// far as there is one: a vote that comes after the decision gets the decision and does not count. The same vote
  /// again, after a restart say, is no error.
  /// Signature: void(error_code, commit_outcome).
  /// Errors: `no_node` (no such transaction), `bad_arguments` (not a participant), `node_exists` (voted otherwise before:
  /// that vote stands).
  template <class Token>
  auto async_vote(std::string id, std::string participant, ballot vote, std::string reason, Token&& token) {
    return detail::initiate<void(error_code, commit_outcome)>(token, &start_vote, session_.get_core(), path_,
                                                              std::move(id), std::move(participant), vote,
                                                              std::move(reason));
  }

  /// Waits for the decision. It does not end with the session, nor with a lost connection.
  /// Signature: void(error_code, commit_outcome). Error: `no_node` (never begun, or cleaned up).
  template <class Token>
  auto async_outcome(std::string id, Token&& token) {
    return async_outcome_for(std::move(id), lease_clock::duration::max(), std::forward<Token>(token));
  }
  /// The same within a budget of time. Error: `timed_out`: it is not decided as far as we know; nothing else changes.
  template <class Token>
  auto async_outcome_for(std::string id, time_budget budget, Token&& token) {
    return detail::initiate<void(error_code, commit_outcome)>(token, &start_outcome, session_.get_core(), path_,
                                                              std::move(id), budget);
  }

  /// Waits for the votes, within a budget of time, and decides: by whoever coordinates, or several at once, who all get
  /// the one decision that was written. A budget of zero or less: by the votes that are there. Without a connection it
  /// goes on until the decision is written, however late. Signature: void(error_code, commit_outcome).
  /// Error: `no_node`.
  template <class Token>
  auto async_decide(std::string id, time_budget budget, Token&& token) {
    return detail::initiate<void(error_code, commit_outcome)>(token, &start_decide, session_.get_core(), path_,
                                                              std::move(id), budget);
  }

  /// How a transaction stands: two round trips. Signature: void(error_code, commit_state). Error: `no_node`.
  template <class Token>
  auto async_state(std::string id, Token&& token) {
    return detail::initiate<void(error_code, commit_state)>(token, &start_state, session_.get_core(), path_,
                                                            std::move(id));
  }

  /// Ids of the transactions that are not decided, in no order: two round trips, and one for each twenty of
  /// them, whatever else is kept.
  /// Signature: void(error_code, std::vector<std::string>).
  template <class Token>
  auto async_undecided(Token&& token) {
    return detail::initiate<void(error_code, std::vector<std::string>)>(token, &start_undecided, session_.get_core(),
                                                                        path_);
  }

  /// Removes what is old: transactions decided at least `age` ago, with their votes. Those begun at least `age` ago and
  /// not decided were given up: they are aborted now, and removed once that is old. All by the server's clock (the times
  /// of the nodes against that of a node just written), so that no clock of a client matters; where the clocks of two
  /// leading servers differ, so may the age. Choose it longer than any party stays down: later it gets `no_node`.
  /// Age: 0 or more. Signature: void(error_code, std::size_t), the number of transactions removed.
  template <class Token>
  auto async_clean_up(time_span<std::chrono::milliseconds> age, Token&& token) {
    return detail::initiate<void(error_code, std::size_t)>(token, &start_clean_up, session_.get_core(), path_, age);
  }

  /// Coordinates for as long as it is not cancelled: stands for election among those who do the same at this path, and
  /// while it leads, decides every transaction, those that others began and left undecided first, and cleans up. What is
  /// decided and kept costs it nothing. Stands again when the leadership is lost. Signature: void(error_code).
  /// Errors: `operation_aborted` (it was cancelled), `sequence_exhausted`, `closed`.
  /// \throws std::invalid_argument naming the bad option.
  template <class Token>
  auto async_coordinate(commit_coordinator_options options, Token&& token) {
    check(options);
    return detail::initiate<void(error_code)>(token, &start_coordinate, session_.get_core(), path_,
                                              std::move(options));
  }

  const std::string& path() const noexcept { return path_; }

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
