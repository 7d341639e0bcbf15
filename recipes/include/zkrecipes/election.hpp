// Leader election without a herd: one candidate is woken per change of leadership.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <zkrecipes/election_view.hpp>
#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

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
