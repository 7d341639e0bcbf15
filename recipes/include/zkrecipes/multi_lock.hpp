// Several locks at once, or none.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/lock.hpp>
#include <zkrecipes/multi_ownership.hpp>

namespace zkrecipes {

/// The locks at several paths. Each of them is shared with users of `lock` at that path.
///
/// The locks are acquired one after the other in the order of their paths, whatever the order they are given in. So two
/// multi-locks that want some of the same locks never wait for each other (Havender's ordering, 1968).
///
/// Thread safety: safe.
/// Cancellation of every operation: all types. No node of ours stays behind: it is removed in the background, for as
/// long as the session lives.
class multi_lock {
 public:
  using executor_type = boost::asio::any_io_executor;

  multi_lock() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path or option; also if there is no path, or the same path twice.
  multi_lock(session over, std::vector<std::string> paths, line_options options);
  multi_lock(session over, std::vector<std::string> paths)
      : multi_lock(std::move(over), std::move(paths), line_options()) {}

  /// Waits until all of the locks are ours. If one of them is lost while we wait for another, the operation ends at
  /// once, and the rest is given up.
  ///
  /// Signature: `void(error_code, multi_ownership)`.
  /// Errors: those of `lock::async_acquire`, and of `ownership::async_lost` for a lock that is lost while we wait for
  /// another.
  /// Cancellation: as the class says; the locks acquired so far are released.
  /// Thread safety: as the class says.
  /// Cost: that of `lock::async_acquire` for each lock, one after the other: one round trip for each that is free.
  template <token_for<multi_ownership> Token = default_token>
  auto async_acquire(Token&& token = Token()) {
    return async_acquire_for(lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// As `async_acquire`, with one budget of time for all of the locks.
  ///
  /// Signature: `void(error_code, multi_ownership)`.
  /// Errors: `timed_out`, and those of `async_acquire`.
  /// Cancellation: as `async_acquire`; the same happens at the end of the budget.
  /// Thread safety: as the class says.
  /// Cost: as `async_acquire`.
  template <token_for<multi_ownership> Token = default_token>
  auto async_acquire_for(time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code, multi_ownership)>(token, &start_acquire, session_.get_core(), paths_,
                                                               options_, budget);
  }

  /// Takes all of the locks if all are free; else none. It does not wait for another member.
  ///
  /// Signature: `void(error_code, multi_ownership)`.
  /// Errors: `busy` (another member holds one of the locks or waits for it), and those of `async_acquire`.
  /// Cancellation: as `async_acquire`.
  /// Thread safety: as the class says.
  /// Cost: that of `lock::async_try_acquire` for each lock up to the first that is busy: two round trips for each that
  /// is free. Locks taken before it are released in the background, with one write each.
  template <token_for<multi_ownership> Token = default_token>
  auto async_try_acquire(Token&& token = Token()) {
    return detail::initiate<void(error_code, multi_ownership)>(token, &start_try_acquire, session_.get_core(), paths_,
                                                               options_);
  }

  const std::vector<std::string>& paths() const noexcept { return paths_; }  ///< In order of acquisition.
  const session& get_session() const noexcept { return session_; }
  const line_options& options() const noexcept { return options_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  using handler = detail::handler_for<void(error_code, multi_ownership)>;
  static void start_acquire(handler, core_ptr, std::vector<std::string>, line_options, lease_clock::duration);
  static void start_try_acquire(handler, core_ptr, std::vector<std::string>, line_options);

  session session_;
  std::vector<std::string> paths_;
  line_options options_;
};

}  // namespace zkrecipes
