// N members enter together and leave together, again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes {

namespace detail {
class meeting_point;
class seat;
}

struct double_barrier_options {
  /// Who we are, as an operator sees it; at most 256 bytes, no control characters.
  std::string id = "zkrecipes";
};

/// What a member has who is inside: its part in one round. It ends once: left, or lost.
///
/// Move-only; the destructor leaves in the background, without waiting for the others. Thread safety: safe.
class attendance {
 public:
  attendance() noexcept;  ///< Of nothing: `error()` is `closed`.
  explicit attendance(std::shared_ptr<detail::seat> seat) noexcept;
  attendance(attendance&&) noexcept;
  attendance& operator=(attendance&&) noexcept;
  ~attendance();

  /// Number of the round: 1 for the first at this path, and so on.
  std::int64_t round() const noexcept;

  /// Full path of the node that stands for us, below the session's root.
  const std::string& path() const noexcept;

  /// No error while we are inside as far as we know; else why not: `closed` (we have left), or what `async_lost` says.
  error_code error() const noexcept;

  /// The transaction, made to fail with `no_node` unless we are still inside when the servers execute it; with
  /// `bad_arguments`, unsent, if we never were.
  transaction fenced(transaction operations) const;

  /// Completes when it has ended: `session_expired`, `lease_lapsed` or `node_removed` (to the others we have left), or
  /// `closed` (we did leave, or the session was closed). Cancellation: all types.
  template <class Token>
  auto async_lost(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_lost, seat_);
  }

  /// Leaves, and waits until all members of this round have left or died. From the first moment we are out; the wait does
  /// not end with the session, nor with a lost connection.
  /// Errors: what `async_lost` says if it was lost before; `closed` (left before), `no_auth`.
  /// Cancellation: all types; it ends the wait, and we are out all the same.
  template <class Token>
  auto async_leave(Token&& token) {
    return async_leave_for(lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// The same within a budget of time. Error: `timed_out`: we are out, somebody else is not yet.
  template <class Token>
  auto async_leave_for(time_budget budget, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_leave, seat_, budget);
  }

 private:
  using seat_ptr = std::shared_ptr<detail::seat>;
  static void start_lost(detail::handler_for<void(error_code)>, seat_ptr);
  static void start_leave(detail::handler_for<void(error_code)>, seat_ptr, lease_clock::duration);

  seat_ptr seat_;
};

/// A place where members meet, `size` at a time. Each entry is a member of its own, also of the same object.
///
/// The double barrier of ZooKeeper's documentation, in rounds. A round is opened by one transaction, which checks that
/// the nodes of its members are there and writes down who they are: nobody is let in before there are enough, nobody
/// counts who has given up or died before that moment, and whoever is written down learns it, however late it looks. The
/// next round opens when all members of the last one have left or died; who comes in between waits for it, first come,
/// first served. State that a crashed round left behind neither lets anybody in nor keeps anybody out.
///
/// Not shared with Curator or kazoo: their members take no part in rounds.
///
/// Thread safety: safe.
class double_barrier {
 public:
  /// `size`: members of a round, 1 to 1000.
  /// \throws std::invalid_argument naming the bad argument.
  double_barrier(session over, std::string path, int size, double_barrier_options options);
  double_barrier(session over, std::string path, int size)
      : double_barrier(std::move(over), std::move(path), size, double_barrier_options()) {}

  /// Waits until a round has been opened that we are a member of. Two round trips for the last one in, one notification
  /// and one round trip for the others. The path is created if it is missing.
  /// Signature: void(error_code, attendance).
  /// Errors: `size_mismatch` (the first of those who are there came for another size: `problem()` names both),
  /// `session_expired`, `lease_lapsed`, `node_removed` (while we waited), `foreign_data` (another recipe has its
  /// data there, or is using the path), `sequence_exhausted`, `no_auth`, `closed`, and those of `session`.
  /// Cancellation: all types. No node of ours stays behind (it is removed in the background for as long as the session
  /// lives); if a round with us was opened at that moment, the others see us leave at once.
  template <class Token>
  auto async_enter(Token&& token) {
    return async_enter_for(lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// The same within a budget of time for everything. Error: `timed_out`: we have withdrawn. With a connection this is
  /// decided by the servers, in one round trip more: either no round is opened with us any more, or one has been, and
  /// then we are in, without an error. Without a connection it is as for a cancellation.
  template <class Token>
  auto async_enter_for(time_budget budget, Token&& token) {
    return detail::initiate<void(error_code, attendance)>(token, &start_enter, point_, budget);
  }

  const std::string& path() const noexcept;
  int size() const noexcept;
  /// What was wrong, in words, when an entry by this object last ended with `size_mismatch` or `foreign_data`.
  std::string problem() const;

 private:
  using point_ptr = std::shared_ptr<detail::meeting_point>;
  static void start_enter(detail::handler_for<void(error_code, attendance)>, point_ptr, lease_clock::duration);

  session session_;
  point_ptr point_;
};

}  // namespace zkrecipes
