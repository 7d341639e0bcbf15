// Leader election without a herd: one candidate is woken per change of leadership.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// How a term has ended, as its successor found it.
enum class term_outcome {
  retired,         ///< The leader handed over.
  confirmed_late,  ///< The leader had lost its place, and confirmed before the hand-over deadline.
  forced,          ///< The leader did not confirm before the hand-over deadline.
  stalled,         ///< Given up by the leader's own watchdog.
  died,            ///< The record said that the leader's process has died.
  unknown,         ///< An outcome that a later version of the library has recorded.
};

const char* to_string(term_outcome outcome) noexcept;

/// An ended term, from the history that the coordinators keep in the record of an election. The times are those of the
/// servers' clock: of the ZooKeeper leader that executed the write.
struct ended_term {
  using time_point = std::chrono::system_clock::time_point;

  std::int64_t epoch = 0;
  std::string leader;               ///< Its id; a long one is cut (docs/formats.md).
  std::optional<time_point> began;  ///< Nothing: it is not known.
  /// When the end was recorded. If the successor did not read that, or there was no such record, when the successor
  /// began. Nothing: it is not known.
  std::optional<time_point> ended;
  term_outcome outcome = term_outcome::unknown;
};

/// The phase of a term.
enum class term_phase {
  none,          ///< No term was ever recorded (or the leader keeps no record: it uses `election`, or is foreign).
  inaugurating,  ///< The leader prepares.
  executing,
  handing_over,  ///< The leader finishes its message in hand, then hands over.
  retired,       ///< The hand-over is complete.
  stalled,       ///< Given up by the leader's own watchdog, because `execute` made no progress.
  died,          ///< The leader's process has died, and somebody who has proof of that has written it into the record.
  unknown,       ///< A phase that a later version of the library has recorded. The term is not finished.
};

/// How a term took over from the one before.
enum class takeover {
  first,           ///< There was no term before.
  clean,           ///< The predecessor had retired.
  confirmed_late,  ///< The predecessor was gone, and confirmed before the hand-over deadline.
  forced,          ///< The predecessor did not confirm before its hand-over deadline. Any way of taking over that a
                   ///< later version has added counts as this.
  died,            ///< The predecessor's process had died, by its record: nothing was waited for but
                   ///< `career_traits::aftermath`.
};

const char* to_string(term_phase phase) noexcept;
const char* to_string(takeover how) noexcept;

/// One client in line for an election.
struct candidate {
  std::string id;
  std::string node;           ///< Its name under the election's path.
  std::int64_t token = 0;     ///< Its `czxid`.
  std::int32_t position = 0;  ///< 0: first in line.
  std::int64_t session_id = 0;
};

/// A change of leadership in progress.
struct hand_over_view {
  std::string from;
  std::string to;  ///< Empty while nobody waits in line.
  /// "finishing": the leader of the term is handing over. "awaiting": the first in line waits for the confirmation of a
  /// predecessor that is gone, or for the aftermath of one that has died.
  std::string state;
  std::chrono::milliseconds elapsed{0};  ///< By the observer's wall clock against the server's.
  /// Time that the leader declared its message in hand may need; once it has died (`term_phase::died`), its aftermath.
  std::chrono::milliseconds deadline{0};
};

/// The state of an election: its leader, its term and the clients in line.
struct election_view {
  std::string path;
  std::int64_t epoch = 0;
  term_phase phase = term_phase::none;
  std::string leader;             ///< Id of the first in line once it leads; a foreign client may have none.
  std::int64_t leader_token = 0;  ///< 0: nobody leads.
  /// Id of the leader that the record names, also when it has gone. Empty if there is no record of a term.
  std::string recorded_leader{};
  /// The phase of the record, also while somebody leads who keeps none.
  term_phase recorded_phase = term_phase::none;
  std::optional<zkrecipes::takeover> how;
  std::chrono::system_clock::time_point since;  ///< When the record was last written: a new phase, or new figures.
  /// When the term began, by the servers' clock. Nothing: it is not known.
  std::optional<std::chrono::system_clock::time_point> began{};
  /// The last eight terms before this one, the latest at the end. Some are missing if a version of the library without
  /// a history has led in between, all if the record was emptied.
  std::vector<ended_term> history{};
  std::vector<candidate> candidates;  ///< In order of arrival, the leader's among them.
  std::optional<hand_over_view> hand_over;
  /// How long ago the leader was asked to give up, by the observer's wall clock against the server's. The request
  /// stands until the leader has left.
  std::optional<std::chrono::milliseconds> resignation_asked;
  /// Why the queue consumer that leads holds off (`message_retry::outage`, or each call of its `process` has asked for
  /// a pause for 45 s), shortened. Empty: it does not.
  std::string held_off{};
  /// A call of `process` of the queue consumer that leads has run for 45 s, without a `term::idle`.
  bool is_still = false;
  std::string still_message{};  ///< The name of its message. Empty: not known, or `is_still` is false.
  /// Differs whenever any field above differs, the times excepted.
  std::string fingerprint;
};

/// How the nodes of our candidates are named. Candidates of this library understand both kinds of names, and those of
/// all of Curator's and kazoo's candidates. Curator's and kazoo's candidates see only nodes that are named as they
/// expect.
enum class election_names {
  leader_latch,     ///< As those of Curator's LeaderLatch.
  leader_selector,  ///< As those of Curator's LeaderSelector, which stands in the line of a mutex.
};

/// Settings of an `election`.
struct election_options {
  /// Our name, as the other clients see it: 1 to 256 bytes, no control characters.
  std::string id{};
  /// Matters only where Curator's or kazoo's clients take part (docs/interop.md).
  election_names names = election_names::leader_latch;
};

/// Campaigning for the leadership at one path, and watching it.
///
/// Candidates stand in line under `path` with ephemeral sequential nodes that are named as Curator's LeaderLatch or
/// LeaderSelector names them, so Curator's clients can take part. The first in line leads. This is the recipe of
/// ZooKeeper's documentation: each candidate watches its nearest predecessor, so one candidate is woken per change.
///
/// To lead in terms, with epochs, phases and a hand-over, use `consumer_coordinator`.
///
/// Thread safety: safe.
class election {
 public:
  using executor_type = boost::asio::any_io_executor;

  election() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path or option.
  election(session over, std::string path, election_options options);

  /// Gets in line and completes when we are first: then we lead. The path is created if it is missing.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: why the place in line was lost: `lease_lapsed` (too long without proof that the ensemble knows us),
  /// `session_expired`, `node_removed` or `revoked`; `sequence_exhausted`, `foreign_data` (another recipe is using the
  /// path), `no_auth`, and those of `session`.
  /// Cancellation: all types. No node of ours stays behind: it is removed in the background, for as long as the session
  /// lives.
  /// Thread safety: as the class says.
  /// Cost: one round trip if nobody else is there. Else as `lock::async_acquire`.
  template <token_for<ownership> Token = default_token>
  auto async_campaign(Token&& token = Token()) {
    return async_campaign_for(lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// As `async_campaign`, with one budget of time for everything: connecting, getting in line, waiting.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `timed_out`, and those of `async_campaign`.
  /// Cancellation: as `async_campaign`; the end of the budget leaves no node behind either.
  /// Thread safety: as the class says.
  /// Cost: as `async_campaign`.
  template <token_for<ownership> Token = default_token>
  auto async_campaign_for(time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code, ownership)>(token, &start_campaign, session_.get_core(), path_, options_,
                                                         budget);
  }

  /// Leads if nobody is in line. It does not wait for another candidate.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `busy` (another candidate leads or waits), and those of `async_campaign`.
  /// Cancellation: as `async_campaign`.
  /// Thread safety: as the class says.
  /// Cost: as `lock::async_try_acquire`.
  template <token_for<ownership> Token = default_token>
  auto async_try_campaign(Token&& token = Token()) {
    return detail::initiate<void(error_code, ownership)>(token, &start_try_campaign, session_.get_core(), path_,
                                                         options_);
  }

  /// Tells who leads and who waits.
  ///
  /// Signature: `void(error_code, election_view)`.
  /// Errors: `no_node` (nobody has ever stood here), `no_auth`, `foreign_data` (the path's data is no term record), and
  /// those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: two round trips: `getData` and `getChildren` of the path, then `getData` of each candidate and one `exists`.
  /// They are repeated, four times at most, if something has changed in between.
  template <token_for<election_view> Token = default_token>
  auto async_view(Token&& token = Token()) {
    return detail::initiate<void(error_code, election_view)>(token, &start_view, session_.get_core(), path_);
  }

  /// Completes with the present view when it differs from `seen` (`election_view()`: any view does): at once, or as
  /// soon as it does. Two views differ if their fingerprints do. With `election_view()` a missing path is waited for.
  /// `seen` has to be of the same election: of its candidates only the first is read again.
  ///
  /// Signature: `void(error_code, election_view)`.
  /// Errors: `no_node` (the election was seen, and its node does not exist now), `no_auth`, `foreign_data`, and those
  /// of `session`, except `connection_loss`: a connection is waited for without a limit.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: that of `async_view` without the candidates of `seen` that are not first, now and again after each
  /// notification and each lost connection. It watches the path, its children and the first candidate; one round trip
  /// more to watch a path that is missing. The watches that have not fired are removed at the end, a request each.
  template <token_for<election_view> Token = default_token>
  auto async_view_change(const election_view& seen, Token&& token = Token()) {
    return detail::initiate<void(error_code, election_view)>(token, &start_view_change, session_.get_core(), path_,
                                                             seen);
  }

  /// Prepares the change that asks the present leader to give up: to be shown, and then committed with
  /// `session::async_commit`. The commit fails with `bad_version` or `no_node` if somebody else has come first
  /// meanwhile.
  ///
  /// Signature: `void(error_code, transaction)`.
  /// Errors: `no_node` (nobody leads), `foreign_data` (a client that is not of this library leads: it does not listen,
  /// and its data stays as it is), `no_auth`, and those of `session`, as for `async_view`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: that of `async_view`; no write.
  template <token_for<transaction> Token = default_token>
  auto async_resignation_request(Token&& token = Token()) {
    return detail::initiate<void(error_code, transaction)>(token, &start_resignation_request, session_.get_core(),
                                                           path_);
  }

  /// Asks the leader to give up the leadership, and completes when the request stands in ZooKeeper.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `bad_version` (somebody else wrote at this moment: try again), those of `async_resignation_request`, and
  /// those of `session`.
  /// Cancellation: all types; a request that was already sent may be written.
  /// Thread safety: as the class says; it writes to the node of the leader, which can be another client's.
  /// Cost: that of `async_view`, and then one round trip with one write.
  template <token_for<> Token = default_token>
  auto async_request_resignation(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_request_resignation, session_.get_core(), path_);
  }

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }
  const election_options& options() const noexcept { return options_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  static void start_campaign(detail::handler_for<void(error_code, ownership)>, core_ptr, std::string, election_options,
                             lease_clock::duration);
  static void start_try_campaign(detail::handler_for<void(error_code, ownership)>, core_ptr, std::string,
                                 election_options);
  static void start_view(detail::handler_for<void(error_code, election_view)>, core_ptr, std::string);
  static void start_view_change(detail::handler_for<void(error_code, election_view)>, core_ptr, std::string,
                                election_view);
  static void start_resignation_request(detail::handler_for<void(error_code, transaction)>, core_ptr, std::string);
  static void start_request_resignation(detail::handler_for<void(error_code)>, core_ptr, std::string);

  session session_;
  std::string path_;
  election_options options_;
};

}  // namespace zkrecipes
