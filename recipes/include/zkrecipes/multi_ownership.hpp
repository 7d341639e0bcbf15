// Locks that were acquired together.
#pragma once

#include <cstddef>
#include <memory>

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

}  // namespace zkrecipes
