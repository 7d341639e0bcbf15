// Several locks at once, or none.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/lock.hpp>
#include <zkrecipes/ownership.hpp>

namespace zkrecipes {

namespace detail {
class held_together;
}

/// Locks that were acquired together. It ends once: when it is released, or when the first of the locks is lost. The
/// other locks stay held until it is released.
///
/// Move-only; the destructor releases in the background, the last acquired lock first.
///
/// Thread safety: safe.
class multi_ownership {
 public:
  using executor_type = boost::asio::any_io_executor;

  multi_ownership() noexcept;  ///< Owns nothing: `error()` is `closed`.
  explicit multi_ownership(std::shared_ptr<detail::held_together> held) noexcept;
  multi_ownership(multi_ownership&&) noexcept;
  multi_ownership& operator=(multi_ownership&&) noexcept;
  ~multi_ownership();

  executor_type get_executor() const noexcept;  ///< That of the session; empty if there was none.

  std::size_t size() const noexcept;
  /// The locks in the order of acquisition, which is that of the paths.
  /// \throws std::out_of_range
  const ownership& at(std::size_t index) const;

  /// No error while all of the locks are held, as far as we know. Else the reason of the end of one of them.
  error_code error() const noexcept;
  /// Until when we may believe that all of the locks are ours if we hear nothing more from the servers: see
  /// `ownership`.
  lease_clock::time_point valid_until() const;
  /// Whether none of the locks has been lost or released, and `valid_until()` has not come yet: a snapshot, see
  /// `ownership::valid`.
  bool valid() const;
  /// The transaction with checks in front: it fails with `no_node` if the node of any of the locks is gone when the
  /// servers execute it. If nothing was ever owned here, it fails with `bad_arguments`, unsent.
  transaction fenced(transaction operations) const;

  /// Completes when the first of the locks is lost, or all are released, with the reason as the error.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: those of `ownership::async_lost`.
  /// Cancellation: all types; it ends only the wait, with `operation_aborted`.
  /// Thread safety: as the class says.
  /// Cost: no request.
  template <token_for<> Token = default_token>
  auto async_lost(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_lost, held_);
  }

  /// Completes when somebody asks us to give up any of the locks, or when the first of them has ended. See
  /// `ownership::async_revoked`.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `revoked` (asked), or those of `ownership::async_lost` (ended).
  /// Cancellation: all types; it ends only the wait, with `operation_aborted`.
  /// Thread safety: as the class says.
  /// Cost: no request.
  template <token_for<> Token = default_token>
  auto async_revoked(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_revoked, held_);
  }

  /// Gives all of the locks up, one after the other, the last acquired first. Each is released as by
  /// `ownership::async_release`.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: the first error of `ownership::async_release`.
  /// Cancellation: all types; it ends only the wait for the lock being released, and the others are released all the
  /// same.
  /// Thread safety: as the class says.
  /// Cost: one round trip and one write for each lock.
  template <token_for<> Token = default_token>
  auto async_release(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_release, held_);
  }

 private:
  using held_ptr = std::shared_ptr<detail::held_together>;
  static void start_lost(detail::handler_for<void(error_code)>, held_ptr);
  static void start_revoked(detail::handler_for<void(error_code)>, held_ptr);
  static void start_release(detail::handler_for<void(error_code)>, held_ptr);

  held_ptr held_;
};

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
