// What somebody holds who is first in a line: a lock, a leadership.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes {

namespace detail {
class place;
}

/// Ownership that a node in a line stands for. It ends once, for one reason: released, or lost.
///
/// What the belief is worth: between `valid_until()` and the moment the owner looks at its clock, somebody else may own
/// it (a paused process does not look); in lease mode `standard` also before `valid_until()`, while our server is cut off from
/// the leader and does not know it. A write that carries `token()` to a store that refuses lower ones, or a
/// `fenced` transaction, is never accepted after a successor's.
///
/// Move-only; the destructor releases in the background. Thread safety: safe.
class ownership {
 public:
  ownership() noexcept;  ///< Owns nothing: `error()` is `closed`, and so is the end of every operation.
  explicit ownership(std::shared_ptr<detail::place> place) noexcept;
  ownership(ownership&&) noexcept;
  ownership& operator=(ownership&&) noexcept;
  ~ownership();

  /// Fencing token: grows from owner to owner over the life of the ensemble (the `czxid` of our node).
  std::int64_t token() const noexcept;

  /// Full path of the node that stands for us, below the session's root.
  const std::string& path() const noexcept;

  /// No error while it is held, as far as we know; else why not (see `async_lost`).
  error_code error() const noexcept;

  /// Until when we may believe that it is ours if nothing were heard from the servers any more: what that is worth depends on
  /// the lease mode, see above. Moves on while we hold it.
  lease_clock::time_point valid_until() const;

  /// The transaction, made to fail with `no_node` unless we still own it when the servers execute it; with
  /// `bad_arguments`, unsent, if nothing was ever owned here.
  transaction fenced(transaction operations) const;

  /// Completes when it has ended, with the reason: `session_expired`, `lease_lapsed`, `node_removed`, `revoked` (the grace
  /// of a request to give it up was over), or `closed` (released, or the session was closed): all of them are losses, see
  /// `is_loss`. Cancellation: all types; `operation_aborted`.
  template <class Token>
  auto async_lost(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_lost, place_);
  }

  /// Completes when somebody asks us to give it up (`revoked`) or it has ended (as `async_lost`). A request takes nothing
  /// away: it is still ours until we release it or the grace of the request is over; `error()` tells. At once if it has been
  /// asked for already. Cancellation: as `async_lost`.
  template <class Token>
  auto async_revoked(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_revoked, place_);
  }

  /// Gives it up; completes when the server has removed our node. A server that is too busy is asked again. Without a connection
  /// it completes at once, and the removal goes on in the background for as long as the session lives; a session that ends
  /// takes the node with it. Error: `no_auth` (the parent's ACL forbids it: the node still stands and keeps others waiting; it is
  /// tried again in the background, with growing pauses). Cancellation ends only the wait.
  template <class Token>
  auto async_release(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_release, place_);
  }

 private:
  friend class read_write_lock;  // its upgrade and downgrade need the place, not only its path
  using place_ptr = std::shared_ptr<detail::place>;
  static void start_lost(detail::handler_for<void(error_code)>, place_ptr);
  static void start_revoked(detail::handler_for<void(error_code)>, place_ptr);
  static void start_release(detail::handler_for<void(error_code)>, place_ptr);

  place_ptr place_;
};

}  // namespace zkrecipes
