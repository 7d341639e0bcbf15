// Mutual exclusion without a herd: one waiter is woken per release.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// A lock at one path, first come, first served.
///
/// This is the lock recipe of ZooKeeper's documentation. The nodes are named as Curator's InterProcessMutex names them,
/// and the names of kazoo's Lock are understood, so their clients can share the path (docs/interop.md says how). Not
/// reentrant: a second acquisition stands in line behind the first.
///
/// For what an ownership guarantees see `ownership`. In lease mode `strict` nobody else holds the lock before the
/// owner's `valid_until()`, unless a process is paused or its clock runs wrong. In `standard` mode somebody else may,
/// for as long as the owner's server does not notice that it is cut off from the leader (docs/guarantees.md). A write
/// that is `fenced`, or carries the `token()`, is right in any case.
///
/// Thread safety: safe.
/// Cancellation of every operation: all types. No node of ours stays behind: it is removed in the background, for as
/// long as the session lives.
class lock {
 public:
  using executor_type = boost::asio::any_io_executor;

  lock() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path or option.
  lock(session over, std::string path, line_options options);
  lock(session over, std::string path) : lock(std::move(over), std::move(path), line_options()) {}

  /// Gets in line and waits until the lock is ours. The path is created if it is missing.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: why the place in line was lost, reported at once, with a connection or without: `lease_lapsed` (too long
  /// without proof that the ensemble knows us), `session_expired`, `node_removed` or `revoked`; `sequence_exhausted`,
  /// `foreign_data` (another recipe is using the path), `no_auth`, and those of `session`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip if the lock is free (`create` and `getChildren`, sent together), two more if the path is
  /// missing. Else one more to watch the member ahead, and one notification when it leaves. If more than one was ahead,
  /// the list is read again then (one more), and the next one ahead is watched. In the background one `getData` watches
  /// our own node.
  template <token_for<ownership> Token = default_token>
  auto async_acquire(Token&& token = Token()) {
    return detail::initiate<void(error_code, ownership)>(token, &start_acquire, session_.get_core(), path_, options_,
                                                         lease_clock::duration::max());
  }

  /// As `async_acquire`, with one budget of time for everything: connecting, getting in line, waiting.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `timed_out`, and those of `async_acquire`.
  /// Cancellation: as the class says; the end of the budget leaves no node behind either.
  /// Thread safety: as the class says.
  /// Cost: as `async_acquire`.
  template <token_for<ownership> Token = default_token>
  auto async_acquire_for(time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code, ownership)>(token, &start_acquire, session_.get_core(), path_, options_,
                                                         budget);
  }

  /// Takes the lock if nobody is in line. It does not wait for another member.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `busy` (another member holds the lock or waits for it), and those of `async_acquire`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one read and no write if the lock is held. Two round trips if it is free, two more if the
  /// path is missing.
  template <token_for<ownership> Token = default_token>
  auto async_try_acquire(Token&& token = Token()) {
    return detail::initiate<void(error_code, ownership)>(token, &start_try_acquire, session_.get_core(), path_,
                                                         options_);
  }

  /// Lists the member that holds the lock and those that wait, in order. A missing path has no members.
  ///
  /// Signature: `void(error_code, std::vector<line_member>)`.
  /// Errors: `no_auth`, and those of `session`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: two round trips: `getChildren`, then one `getData` for each member, all sent together. One if there are no
  /// members.
  template <token_for<std::vector<line_member>> Token = default_token>
  auto async_members(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<line_member>)>(token, &start_members, session_.get_core(),
                                                                        path_);
  }

  /// Asks the holder to give the lock up (see `ownership::async_revoked`), and completes when the request stands in the
  /// holder's node; the other data of that node stays. A holder of this library that still has the lock when the grace
  /// is over, counted from when it is told, loses it with `revoked`. `grace` is 0 or more, however long; the maximum
  /// only asks; of several requests the one whose grace ends first counts. A holder that was let in before this call is
  /// seen, also if that was through another server.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node` (nobody holds the lock), `foreign_data` (the holder's node does not say that its owner reads
  /// requests: it is not of this library, and its data stays as it is), `bad_version` (the holder's node changed at
  /// this moment), `no_auth`, `bad_arguments` (a negative grace), and those of `session`.
  /// Cancellation: all types; a request that was already sent may be written.
  /// Thread safety: as the class says; it writes to the node of the holder, which can be another client's.
  /// Cost: three round trips: a transaction that changes nothing together with `getChildren`, then `getData`, then
  /// `setData` of the holder's node.
  template <token_for<> Token = default_token>
  auto async_request_revocation(time_span<std::chrono::milliseconds> grace, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_request_revocation, session_.get_core(), path_, grace);
  }

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }
  const line_options& options() const noexcept { return options_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  using owner_handler = detail::handler_for<void(error_code, ownership)>;
  static void start_acquire(owner_handler, core_ptr, std::string, line_options, lease_clock::duration);
  static void start_try_acquire(owner_handler, core_ptr, std::string, line_options);
  static void start_members(detail::handler_for<void(error_code, std::vector<line_member>)>, core_ptr, std::string);
  static void start_request_revocation(detail::handler_for<void(error_code)>, core_ptr, std::string,
                                       std::chrono::milliseconds);

  session session_;
  std::string path_;
  line_options options_;
};

}  // namespace zkrecipes
