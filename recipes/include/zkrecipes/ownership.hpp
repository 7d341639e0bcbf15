// The ownership of a lock, of permits or of a leadership.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes {

/// Settings of the recipes that are made of a line: `lock`, `read_write_lock`, `multi_lock`, `semaphore`.
struct line_options {
  /// Our name, as the other clients see it: 1 to 256 bytes, no control characters.
  std::string id = "zkrecipes";
  /// Called while we wait, with the number of members ahead of us, those included that hold the lock or permits, as far
  /// as we know: when we get in line, and whenever we look again and the number differs. A hook: see
  /// docs/operations.md.
  std::function<void(std::size_t ahead)> on_position{};
};

/// One client in the line of a lock or a similar recipe.
struct line_member {
  std::string id;          ///< The name that the member gives itself; foreign clients may have none.
  std::string node;        ///< Its name under the recipe's path.
  std::int64_t token = 0;  ///< The `czxid` of its node.
  std::int64_t session_id = 0;
  std::int32_t position = 0;  ///< In order of arrival, from 0.
  bool holds = false;         ///< True: it holds the lock. False: it waits.
};

namespace detail {
class own_node;
}

/// An ownership, for which an ephemeral node of ours stands in a line. It ends once, for one reason: it is released, or
/// lost.
///
/// The belief "it is ours" has limits. Between `valid_until()` and the moment when the owner looks at its clock
/// somebody else may own it, because a paused process does not look. In lease mode `standard` this can happen before
/// `valid_until()`, too, while our server is cut off from the leader and does not know it (docs/guarantees.md). A write
/// that carries `token()` to a store that refuses lower tokens, or a `fenced` transaction, is never accepted after a
/// write of a successor.
///
/// Move-only; the destructor releases in the background.
///
/// Thread safety: safe.
class ownership {
 public:
  using executor_type = boost::asio::any_io_executor;

  ownership() noexcept;  ///< Owns nothing: `error()` is `closed`, and every operation completes with `closed`.
  explicit ownership(std::shared_ptr<detail::own_node> node) noexcept;
  ownership(ownership&&) noexcept;
  ownership& operator=(ownership&&) noexcept;
  ~ownership();

  executor_type get_executor() const noexcept;  ///< That of the session; empty if there was none.

  /// Fencing token: grows from owner to owner over the life of the ensemble (the `czxid` of our node).
  std::int64_t token() const noexcept;

  /// Full path of the node that stands for us, below the session's root.
  const std::string& path() const noexcept;

  /// No error while it is held, as far as we know. Else the reason of its end (see `async_lost`).
  error_code error() const noexcept;

  /// Until when we may believe that it is ours if we hear nothing more from the servers. How far this can be trusted
  /// depends on the lease mode: see above. It moves on while we hold it.
  lease_clock::time_point valid_until() const;

  /// Whether it has not been lost or released, and `valid_until()` has not come yet, by the clock at this moment. This
  /// is a snapshot: the answer can be out of date when it is read, for example because the process was paused in
  /// between. A write that must not happen after a successor's has to be fenced (`fenced`, `token`).
  bool valid() const;

  /// The transaction with a check in front: it fails with `no_node` if our node is gone when the servers execute it. If
  /// nothing was ever owned here, it fails with `bad_arguments`, unsent.
  transaction fenced(transaction operations) const;

  /// Completes when the ownership has ended, with the reason as the error; at once if it has ended already.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `session_expired`, `lease_lapsed`, `node_removed`, `revoked` (the grace of a request to give it up is
  /// over), or `closed` (it was released, or the session was closed). All of them are losses: see `is_loss`.
  /// Cancellation: all types; it ends only the wait, with `operation_aborted`.
  /// Thread safety: as the class says.
  /// Cost: no request; our node is watched and the lease kept for as long as we own it, whether anybody waits here or
  /// not.
  template <token_for<> Token = default_token>
  auto async_lost(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_lost, node_);
  }

  /// Completes when somebody asks us to give the ownership up, or when it has ended; at once if either has happened
  /// already. A request alone takes nothing away: it is still ours until we release it or the grace of the request is
  /// over. `error()` tells.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `revoked` (asked), or those of `async_lost` (ended).
  /// Cancellation: as `async_lost`.
  /// Thread safety: as the class says.
  /// Cost: no request, as `async_lost`.
  template <token_for<> Token = default_token>
  auto async_revoked(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_revoked, node_);
  }

  /// Gives the ownership up and completes when the server has removed our node; a server that is too busy is asked
  /// again. Without a connection it completes at once, and the removal goes on in the background for as long as the
  /// session lives; the end of the session removes the node, too. If the ownership has ended already it completes
  /// without an error.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_auth` (the ACL of the parent forbids it: the node still stands and keeps others waiting; the removal
  /// is tried again in the background, with growing pauses).
  /// Cancellation: all types; it ends only the wait, with `operation_aborted`.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one write; none if it has ended already.
  template <token_for<> Token = default_token>
  auto async_release(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_release, node_);
  }

 private:
  friend class read_write_lock;  // its upgrade and downgrade need the node, not only its path
  using own_node_ptr = std::shared_ptr<detail::own_node>;
  static void start_lost(detail::handler_for<void(error_code)>, own_node_ptr);
  static void start_revoked(detail::handler_for<void(error_code)>, own_node_ptr);
  static void start_release(detail::handler_for<void(error_code)>, own_node_ptr);

  own_node_ptr node_;
};

}  // namespace zkrecipes
