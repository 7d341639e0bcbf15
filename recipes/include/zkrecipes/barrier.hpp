// A gate that many wait at and anybody lifts.
#pragma once

#include <cstdint>
#include <string>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// While it is raised, whoever waits is held back; when it is lifted, all go on at once. A barrier that is not raised
/// holds nobody.
///
/// The barrier of ZooKeeper's documentation: a node that is there while it is raised, as in Curator's DistributedBarrier
/// and kazoo's Barrier, whose clients can share the path. It belongs to nobody: it stays raised when the session of
/// whoever raised it ends.
///
/// Thread safety: safe. Cancellation of every operation: all types; what was already sent may take effect.
class barrier {
 public:
  /// \throws std::invalid_argument naming the bad path.
  barrier(session over, std::string path);

  /// Raises it: one round trip. Raising what is raised already is no error and changes nothing (two). Missing parents are
  /// created. Completes with the number of the raise that stands (the `czxid` of the node): it grows from raise to raise.
  /// Signature: void(error_code, std::int64_t).
  /// Errors: `outcome_unknown` (the reply was lost and it does not stand now: it was not raised, or has been lifted
  /// already; never raised a second time behind such a lift), `foreign_data` (the path is not a barrier's: it has
  /// children, or the data of another recipe), `no_auth`, and those of `session`.
  template <class Token>
  auto async_raise(Token&& token) {
    return detail::initiate<void(error_code, std::int64_t)>(token, &start_raise, session_.get_core(), path_);
  }

  /// Lifts the raise that stands: two round trips; no error if none does. A lift whose reply is lost is tried again, but
  /// never lifts a raise that came after it took effect.
  /// Errors: `foreign_data`, `no_auth`, and those of `session`.
  template <class Token>
  auto async_lift(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_lift, session_.get_core(), path_);
  }

  /// Waits until it is lifted: one round trip if it is not raised, else one notification. A raise that was completed
  /// before the wait began is seen. No lift is missed: whoever waits for one raise goes on once that one is gone, also
  /// where it was lifted while we had no connection or session, and where another has been raised since. It does not end
  /// with the session: it goes on in the next one, however long the connection is lost.
  /// Errors: `foreign_data`, `no_auth`, `closed`, `auth_failed`.
  template <class Token>
  auto async_wait(Token&& token) {
    return async_wait_for(lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// The same within a budget of time for everything. Error: `timed_out`; zero or less has passed at once.
  template <class Token>
  auto async_wait_for(time_budget budget, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_wait, session_.get_core(), path_, budget);
  }

  const std::string& path() const noexcept { return path_; }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  static void start_raise(detail::handler_for<void(error_code, std::int64_t)>, core_ptr, std::string);
  static void start_lift(detail::handler_for<void(error_code)>, core_ptr, std::string);
  static void start_wait(detail::handler_for<void(error_code)>, core_ptr, std::string, lease_clock::duration);

  session session_;
  std::string path_;
};

}  // namespace zkrecipes
