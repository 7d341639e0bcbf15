// The part of one member in one round of a double barrier.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes {

namespace detail {
class attendant;
}

/// The part of one member in one round, while it is inside. It ends once: the member leaves, or is lost.
///
/// Move-only; the destructor leaves in the background, without waiting for the others.
///
/// Thread safety: safe.
class attendance {
 public:
  using executor_type = boost::asio::any_io_executor;

  attendance() noexcept;  ///< Attends nothing: `error()` is `closed`.
  explicit attendance(std::shared_ptr<detail::attendant> attendant) noexcept;
  attendance(attendance&&) noexcept;
  attendance& operator=(attendance&&) noexcept;
  ~attendance();

  executor_type get_executor() const noexcept;  ///< That of the session; empty if there was none.

  /// Number of the round: 1 for the first at this path, and so on.
  std::int64_t round() const noexcept;

  /// Full path of the node that stands for us, below the session's root.
  const std::string& path() const noexcept;

  /// No error while we are inside, as far as we know. Else `closed` (we have left), or the reason that `async_lost`
  /// gives.
  error_code error() const noexcept;

  /// The transaction with a check in front: it fails with `no_node` if our node is gone when the servers execute it. If
  /// we were never inside, it fails with `bad_arguments`, unsent.
  transaction fenced(transaction operations) const;

  /// Completes when the attendance has ended, with the reason as the error; at once if it has ended already.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `session_expired`, `lease_lapsed` or `node_removed` (the others see us as having left), or `closed` (we
  /// have left, or the session was closed).
  /// Cancellation: all types; it ends only the wait, with `operation_aborted`.
  /// Thread safety: as the class says.
  /// Cost: no request.
  template <token_for<> Token = default_token>
  auto async_lost(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_lost, attendant_);
  }

  /// Leaves, and waits until all members of this round have left or died. We are out from the first moment on. The wait
  /// does not end with the session or with a lost connection.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: those of `async_lost` if it was lost before; `closed` (left before, or the session was closed), `no_auth`,
  /// `auth_failed`, `server_error` (the server refuses to list the members).
  /// Cancellation: all types; it ends the wait, and we are out all the same.
  /// Thread safety: as the class says.
  /// Cost: one round trip (`delete` and `getChildren`, sent together) for the last one out. For the others one more for
  /// each member that they watch, the nearest one still inside, and one notification when that one leaves.
  template <token_for<> Token = default_token>
  auto async_leave(Token&& token = Token()) {
    return async_leave_for(lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// As `async_leave`, with one budget of time.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `timed_out` (we are out, another member is still inside), and those of `async_leave`.
  /// Cancellation: as `async_leave`.
  /// Thread safety: as the class says.
  /// Cost: as `async_leave`.
  template <token_for<> Token = default_token>
  auto async_leave_for(time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_leave, attendant_, budget);
  }

 private:
  using attendant_ptr = std::shared_ptr<detail::attendant>;
  static void start_lost(detail::handler_for<void(error_code)>, attendant_ptr);
  static void start_leave(detail::handler_for<void(error_code)>, attendant_ptr, lease_clock::duration);

  attendant_ptr attendant_;
};

}  // namespace zkrecipes
