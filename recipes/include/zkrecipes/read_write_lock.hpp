// Many readers or one writer, in order of arrival.
#pragma once

#include <string>
#include <vector>

#include <zkrecipes/line_member.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// A fair read-write lock: a reader waits for the writers that came before it, a writer for everybody that did. Nobody
/// overtakes, so neither side starves.
///
/// The shared locks of ZooKeeper's documentation, with the names of Curator's InterProcessReadWriteLock and understanding
/// those of kazoo's ReadLock and WriteLock. Waiters only ever watch a lower sequence number: the nearest that blocks them.
/// Not reentrant.
///
/// What holding it is worth: see `ownership`. Thread safety: safe. Cancellation: as `lock`.
class read_write_lock {
 public:
  /// \throws std::invalid_argument naming the bad path or option.
  read_write_lock(session over, std::string path, lock_options options);
  read_write_lock(session over, std::string path) : read_write_lock(std::move(over), std::move(path), lock_options()) {}

  /// Waits for a share: one round trip if no writer is there. Signature: void(error_code, ownership).
  /// Errors: those of `lock::async_acquire`.
  template <class Token>
  auto async_acquire_read(Token&& token) {
    return acquire(mode::read, lease_clock::duration::max(), std::forward<Token>(token));
  }
  /// Waits until it is ours alone: one round trip if nobody is there.
  template <class Token>
  auto async_acquire_write(Token&& token) {
    return acquire(mode::write, lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// The same within a budget of time for everything. Error: `timed_out`.
  template <class Token>
  auto async_acquire_read_for(time_budget budget, Token&& token) {
    return acquire(mode::read, budget, std::forward<Token>(token));
  }
  template <class Token>
  auto async_acquire_write_for(time_budget budget, Token&& token) {
    return acquire(mode::write, budget, std::forward<Token>(token));
  }

  /// Makes the writer's hold a shared one at the same place in line: readers behind it are let in, no writer gets in
  /// between. `held` stays what it is, and is released as before. Clients of Curator and kazoo go on waiting for it, as
  /// for a writer.
  /// Errors: `bad_arguments` (not a writer's hold of this lock), `no_node` or `session_expired` (it has been lost),
  /// `no_auth`.
  template <class Token>
  auto async_downgrade(const ownership& held, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_downgrade, session_.get_core(), path_, options_.id,
                                              held.place_);
  }

  /// Makes a reader's hold an exclusive one if nobody else is in line, and does not wait for it: two readers that waited
  /// for each other would wait for ever. Completes with the exclusive hold; `held` is to be released as before.
  /// Signature: void(error_code, ownership). Errors: `busy` (somebody else reads or waits), `bad_arguments` (not a
  /// reader's hold of this lock), `no_node` or `session_expired` (it has been lost), and those of `async_acquire_write`.
  template <class Token>
  auto async_try_upgrade(const ownership& held, Token&& token) {
    return detail::initiate<void(error_code, ownership)>(token, &start_try_upgrade, session_.get_core(), path_,
                                                         options_, held.place_);
  }

  /// Who holds it and who waits, in order. A downgraded writer is seen as a holder, the readers that it lets in as
  /// waiting: only they know better. Errors: as `lock::async_members`.
  template <class Token>
  auto async_members(Token&& token) {
    return detail::initiate<void(error_code, std::vector<line_member>)>(token, &start_members, session_.get_core(),
                                                                        path_);
  }

  const std::string& path() const noexcept { return path_; }

 private:
  enum class mode { read, write };
  using core_ptr = std::shared_ptr<detail::core>;
  using place_ptr = std::shared_ptr<detail::place>;
  using owner_handler = detail::handler_for<void(error_code, ownership)>;

  template <class Token>
  auto acquire(mode how, time_budget budget, Token&& token) {
    return detail::initiate<void(error_code, ownership)>(token, &start_acquire, session_.get_core(), path_, options_,
                                                         how, budget);
  }
  static void start_acquire(owner_handler, core_ptr, std::string, lock_options, mode, lease_clock::duration);
  static void start_downgrade(detail::handler_for<void(error_code)>, core_ptr, std::string, std::string, place_ptr);
  static void start_try_upgrade(owner_handler, core_ptr, std::string, lock_options, place_ptr);
  static void start_members(detail::handler_for<void(error_code, std::vector<line_member>)>, core_ptr, std::string);

  session session_;
  std::string path_;
  lock_options options_;
};

}  // namespace zkrecipes
