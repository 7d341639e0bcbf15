// A barrier in rounds: N members enter together and leave together, again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/diagnostic.hpp>
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

namespace detail {
class double_barrier_state;
}  // namespace detail

/// Settings of a `double_barrier`.
struct double_barrier_options {
  /// Our name, as an operator sees it: 1 to 256 bytes, no control characters.
  std::string id = "zkrecipes";
};

/// A place where members meet, `size` at a time. Each entry is a member of its own, also if the same object makes
/// several.
///
/// This is the double barrier of ZooKeeper's documentation, in rounds. One transaction opens a round: it checks that
/// the nodes of the members are there, and records who they are. So nobody is let in before there are enough members,
/// members that have given up or died before that moment do not count, and each recorded member learns that it is in,
/// however late it looks. The next round opens when all members of the last one have left or died. Members that come in
/// between wait for it, first come, first served. State that a crashed round left behind neither lets anybody in nor
/// keeps anybody out.
///
/// The path can not be shared with Curator or kazoo, because their members take no part in rounds.
///
/// Thread safety: safe.
class double_barrier {
 public:
  using executor_type = boost::asio::any_io_executor;

  double_barrier() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// `size`: members of a round, 1 to 1000.
  /// \throws std::invalid_argument naming the bad argument.
  double_barrier(session over, std::string path, int size, double_barrier_options options);
  double_barrier(session over, std::string path, int size)
      : double_barrier(std::move(over), std::move(path), size, double_barrier_options()) {}

  /// Gets in line and waits until a round has been opened in which we are a member. The path is created if it is
  /// missing. `why` tells what is behind `size_mismatch` and `foreign_data`.
  ///
  /// Signature: `void(error_code, attendance)`.
  /// Errors: `size_mismatch` (the first member there came for another size: the diagnostic names both),
  /// `session_expired`, `lease_lapsed` or `node_removed` (while we waited), `foreign_data` (another recipe has its data
  /// there, or is using the path), `sequence_exhausted`, `no_auth`, and those of `session`.
  /// Cancellation: all types. No node of ours stays behind: it is removed in the background, for as long as the session
  /// lives. If a round with us was opened at that moment, the others see us leave at once.
  /// Thread safety: as the class says.
  /// Cost: two round trips for the last one in: `create`, `getData` and `getChildren`, then the transaction that opens
  /// the round. For the others one more to set their watches, and from the opening on one notification and one round
  /// trip. Two more if the path is missing.
  template <token_for<attendance> Token = default_token>
  auto async_enter(Token&& token = Token()) {
    return async_enter(diagnostic(), std::forward<Token>(token));
  }
  template <token_for<attendance> Token = default_token>
  auto async_enter(diagnostic why, Token&& token = Token()) {
    return async_enter_for(lease_clock::duration::max(), std::move(why), std::forward<Token>(token));
  }

  /// As `async_enter`, with one budget of time for everything. With a connection the servers decide at the end of the
  /// budget: either no round is opened with us any more, or one has been opened, and then we are in, without an error.
  /// Without a connection the end of the budget is as a cancellation.
  ///
  /// Signature: `void(error_code, attendance)`.
  /// Errors: `timed_out` (we have withdrawn), and those of `async_enter`.
  /// Cancellation: as `async_enter`.
  /// Thread safety: as the class says.
  /// Cost: as `async_enter`; one round trip more to withdraw, and another one if the line has changed since it was
  /// read.
  template <token_for<attendance> Token = default_token>
  auto async_enter_for(time_budget budget, Token&& token = Token()) {
    return async_enter_for(budget, diagnostic(), std::forward<Token>(token));
  }
  template <token_for<attendance> Token = default_token>
  auto async_enter_for(time_budget budget, diagnostic why, Token&& token = Token()) {
    return detail::initiate<void(error_code, attendance)>(token, &start_enter, state_, budget, std::move(why));
  }

  const std::string& path() const noexcept;
  int size() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const double_barrier_options& options() const noexcept { return options_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using state_ptr = std::shared_ptr<detail::double_barrier_state>;
  static void start_enter(detail::handler_for<void(error_code, attendance)>, state_ptr, lease_clock::duration,
                          diagnostic);

  session session_;
  double_barrier_options options_;
  state_ptr state_;
};

}  // namespace zkrecipes
