// Mutual exclusion without a herd.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <zkrecipes/line_member.hpp>
#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

struct lock_options {
  /// Who we are, as the others see it; at most 256 bytes, no control characters.
  std::string id = "zkrecipes";
  /// Told, while we wait, how many are ahead of us as far as we know: when we get in line and whenever we look again.
  /// A hook: see docs/operations.md.
  std::function<void(std::size_t ahead)> on_position{};
};

/// A lock at one path, first come, first served.
///
/// The lock recipe of ZooKeeper's documentation, with the names of Curator's InterProcessMutex and understanding those of
/// kazoo's Lock, so their clients can share the path. Not reentrant: two acquisitions stand in line behind each other.
///
/// What holding it is worth: see `ownership`. In lease mode `strict` nobody else holds it before `valid_until()` of the owner,
/// unless a process is paused or its clock runs wrong; in `standard` mode somebody else may, for as long as the owner's server
/// does not notice that it is cut off from the leader (docs/guarantees.md). A write that is `fenced`, or carries the
/// `token()`, is right in any case.
///
/// Thread safety: safe. Cancellation of every operation: all types; no node of ours stays behind (it is removed in the
/// background for as long as the session lives).
class lock {
 public:
  /// \throws std::invalid_argument naming the bad path or option.
  lock(session over, std::string path, lock_options options);
  lock(session over, std::string path) : lock(std::move(over), std::move(path), lock_options()) {}

  /// Waits for the lock: one round trip if it is free, one wake-up if it is not. The path is created if it is missing.
  /// Signature: void(error_code, ownership).
  /// Errors: why the place in line was lost, told at once, with a connection or without (`lease_lapsed`: too long without proof
  /// that the ensemble knows us; `session_expired`, `node_removed`, `revoked`), `sequence_exhausted`, `foreign_data` (another
  /// recipe is using the path), `no_auth`, `closed`, and those of `session`.
  template <class Token>
  auto async_acquire(Token&& token) {
    return detail::initiate<void(error_code, ownership)>(token, &start_acquire, session_.get_core(), path_, options_,
                                                         lease_clock::duration::max());
  }

  /// The same within a budget of time for everything: connecting, getting in line, waiting. Error: `timed_out`.
  template <class Token>
  auto async_acquire_for(time_budget budget, Token&& token) {
    return detail::initiate<void(error_code, ownership)>(token, &start_acquire, session_.get_core(), path_, options_,
                                                         budget);
  }

  /// Takes the lock if it is free. A lock that is held costs one read and no write. Error: `busy`.
  template <class Token>
  auto async_try_acquire(Token&& token) {
    return detail::initiate<void(error_code, ownership)>(token, &start_try_acquire, session_.get_core(), path_,
                                                         options_);
  }

  /// Who holds it and who waits, in order. Two round trips. Signature: void(error_code, std::vector<line_member>).
  /// Errors: `no_auth`; a path that is missing has nobody.
  template <class Token>
  auto async_members(Token&& token) {
    return detail::initiate<void(error_code, std::vector<line_member>)>(token, &start_members, session_.get_core(),
                                                                        path_);
  }

  /// Asks the holder to give it up: see `ownership::async_revoked`. A holder of this library that still has it when the
  /// grace period is over, counted from when it was told, loses it with `revoked`. What the holder's node says stays.
  /// Grace: 0 or more, however long; the maximum: only ask. Of several requests the one that ends first counts. Completes
  /// when the request stands in ZooKeeper. Whoever was let in before this call is seen, also through another server.
  /// Errors: `no_node` (nobody holds it), `bad_version` (the holder's node changed at this moment), `no_auth`,
  /// `bad_arguments` (a negative grace).
  template <class Token>
  auto async_request_revocation(time_span<std::chrono::milliseconds> grace, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_request_revocation, session_.get_core(), path_, grace);
  }

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }
  const lock_options& options() const noexcept { return options_; }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  using owner_handler = detail::handler_for<void(error_code, ownership)>;
  static void start_acquire(owner_handler, core_ptr, std::string, lock_options, lease_clock::duration);
  static void start_try_acquire(owner_handler, core_ptr, std::string, lock_options);
  static void start_members(detail::handler_for<void(error_code, std::vector<line_member>)>, core_ptr, std::string);
  static void start_request_revocation(detail::handler_for<void(error_code)>, core_ptr, std::string,
                                       std::chrono::milliseconds);

  session session_;
  std::string path_;
  lock_options options_;
};

}  // namespace zkrecipes
