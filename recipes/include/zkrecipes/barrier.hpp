// A gate: many clients wait at it, and any client can lift it.
#pragma once

#include <cstdint>
#include <string>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// While the barrier is raised all who wait are held back. When it is lifted all of them go on at once. A barrier that
/// is not raised holds nobody.
///
/// This is the barrier of ZooKeeper's documentation: a node that exists while the barrier is raised, as in Curator's
/// DistributedBarrier and kazoo's Barrier, whose clients can share the path. The barrier has no owner: it stays raised
/// when the session of the client that raised it ends.
///
/// Thread safety: safe.
/// Cancellation of every operation: all types. A request that was already sent may take effect.
class barrier {
 public:
  using executor_type = boost::asio::any_io_executor;

  barrier() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path.
  barrier(session over, std::string path);

  /// Raises the barrier, and creates missing parents. Raising a raised barrier is no error and changes nothing.
  /// Completes with the number of the raise that stands (the `czxid` of the node), which grows from raise to raise.
  ///
  /// Signature: `void(error_code, std::int64_t)`.
  /// Errors: `outcome_unknown` (the reply was lost and the barrier is not raised now: it was never raised, or has been
  /// lifted already; it is not raised a second time, since that could be behind such a lift), `foreign_data` (the path
  /// is not a barrier's: the node has children, or the data of another recipe), `no_auth`, and those of `session`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one write. Two round trips if the barrier is raised already; two more if the parent is
  /// missing.
  template <token_for<std::int64_t> Token = default_token>
  auto async_raise(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::int64_t)>(token, &start_raise, session_.get_core(), path_);
  }

  /// Lifts the raise that stands; no error if none does. A lift whose reply is lost is tried again, but never lifts a
  /// raise that came after it took effect.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: two round trips: a transaction that changes nothing together with `getData`, then `delete`. Only the first
  /// if no raise stands.
  template <token_for<> Token = default_token>
  auto async_lift(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_lift, session_.get_core(), path_);
  }

  /// Waits until the barrier is lifted; at once if it is not raised. A raise that was completed before the wait began
  /// is seen. No lift is missed: the wait for one raise ends once that raise is gone, also if it was lifted while we
  /// had no connection or session, and if the barrier has been raised again since. The wait does not end with the
  /// session: it goes on in the next one.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `foreign_data`, `no_auth`, `server_error` (the server refuses to show the node), and those of `session`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip: a transaction that changes nothing together with `getData`. If the barrier is raised, then
  /// one notification when it is lifted, and one such round trip more after each lost connection.
  template <token_for<> Token = default_token>
  auto async_wait(Token&& token = Token()) {
    return async_wait_for(lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// As `async_wait`, with one budget of time for everything; zero or less: the time is up at once.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `timed_out`, and those of `async_wait`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: as `async_wait`.
  template <token_for<> Token = default_token>
  auto async_wait_for(time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_wait, session_.get_core(), path_, budget);
  }

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  static void start_raise(detail::handler_for<void(error_code, std::int64_t)>, core_ptr, std::string);
  static void start_lift(detail::handler_for<void(error_code)>, core_ptr, std::string);
  static void start_wait(detail::handler_for<void(error_code)>, core_ptr, std::string, lease_clock::duration);

  session session_;
  std::string path_;
};

}  // namespace zkrecipes
