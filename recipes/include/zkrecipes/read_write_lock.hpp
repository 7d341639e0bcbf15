// Many readers or one writer, in order of arrival.
#pragma once

#include <string>
#include <vector>

#include <zkrecipes/lock.hpp>
#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// A fair read-write lock. A reader waits for the writers that came before it, a writer for all members that did. No
/// member overtakes another, so neither readers nor writers starve.
///
/// These are the shared locks of ZooKeeper's documentation. The nodes are named as Curator's InterProcessReadWriteLock
/// names them, and the names of kazoo's ReadLock and WriteLock are understood (docs/interop.md). A waiter only ever
/// watches a node with a lower sequence number: the nearest that blocks it. Not reentrant.
///
/// For what an ownership guarantees see `ownership`.
///
/// Thread safety: safe.
/// Cancellation of every operation: as `lock`.
class read_write_lock {
 public:
  using executor_type = boost::asio::any_io_executor;

  read_write_lock() =
      default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path or option.
  read_write_lock(session over, std::string path, line_options options);
  read_write_lock(session over, std::string path) : read_write_lock(std::move(over), std::move(path), line_options()) {}

  /// Gets in line and waits until we may read, together with other readers. The path is created if it is missing.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: those of `lock::async_acquire`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip if no writer is ahead (`create` and `getChildren`, sent together), two more if the path is
  /// missing. Else one more to watch the nearest writer ahead, and one notification when it leaves. If another writer
  /// was ahead, too, the list is read again then (one more), and the next writer ahead is watched.
  template <token_for<ownership> Token = default_token>
  auto async_acquire_read(Token&& token = Token()) {
    return acquire(mode::read, lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// Gets in line and waits until the lock is ours alone. The path is created if it is missing.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: those of `lock::async_acquire`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip if nobody is in line. Else as `lock::async_acquire`.
  template <token_for<ownership> Token = default_token>
  auto async_acquire_write(Token&& token = Token()) {
    return acquire(mode::write, lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// As `async_acquire_read`, with one budget of time for everything.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `timed_out`, and those of `lock::async_acquire`.
  /// Cancellation: as the class says; the end of the budget leaves no node behind either.
  /// Thread safety: as the class says.
  /// Cost: as `async_acquire_read`.
  template <token_for<ownership> Token = default_token>
  auto async_acquire_read_for(time_budget budget, Token&& token = Token()) {
    return acquire(mode::read, budget, std::forward<Token>(token));
  }

  /// As `async_acquire_write`, with one budget of time for everything.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `timed_out`, and those of `lock::async_acquire`.
  /// Cancellation: as the class says; the end of the budget leaves no node behind either.
  /// Thread safety: as the class says.
  /// Cost: as `async_acquire_write`.
  template <token_for<ownership> Token = default_token>
  auto async_acquire_write_for(time_budget budget, Token&& token = Token()) {
    return acquire(mode::write, budget, std::forward<Token>(token));
  }

  /// Reads if no other writer is in line than one that has downgraded its hold. It does not wait for another member.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `busy` (a writer holds the lock or waits for it), and those of `lock::async_acquire`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: two round trips if no writer is in line, two more if the path is missing. If one is, one read and no write;
  /// one read more to learn whether it has downgraded its hold, if it is the only one.
  template <token_for<ownership> Token = default_token>
  auto async_try_acquire_read(Token&& token = Token()) {
    return try_acquire(mode::read, std::forward<Token>(token));
  }

  /// Takes the lock if nobody is in line. It does not wait for another member.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `busy` (another member holds the lock or waits for it), and those of `lock::async_acquire`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: as `lock::async_try_acquire`.
  template <token_for<ownership> Token = default_token>
  auto async_try_acquire_write(Token&& token = Token()) {
    return try_acquire(mode::write, std::forward<Token>(token));
  }

  /// Turns a writer's hold into a shared one at the same place in line: the readers behind it are let in, and no writer
  /// gets in between. `held` stays what it is, and is released as before. Clients of Curator and kazoo go on waiting
  /// for it, as for a writer.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `bad_arguments` (`held` is not a writer's hold of this lock), `no_node` or `session_expired` (it has been
  /// lost), `no_auth`, and those of `session`.
  /// Cancellation: all types; the hold may have become a shared one.
  /// Thread safety: as the class says; it writes to the node of `held`.
  /// Cost: one round trip, one write; two round trips more whenever somebody else has written to the node.
  template <token_for<> Token = default_token>
  auto async_downgrade(const ownership& held, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_downgrade, session_.get_core(), path_, held.node_);
  }

  /// Turns a reader's hold into an exclusive one if nobody else is in line. It does not wait, because two readers that
  /// waited for each other would wait for ever. Completes with the exclusive hold; `held` stays what it is, also on
  /// failure, and is to be released as before.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `busy` (another member reads or waits), `bad_arguments` (`held` is not a reader's hold of this lock),
  /// `no_node` or `session_expired` (it has been lost), and those of `async_acquire_write`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: two round trips: `getChildren`, then `create` and `getChildren`, sent together. Only the first if somebody
  /// else is in line.
  template <token_for<ownership> Token = default_token>
  auto async_try_upgrade(const ownership& held, Token&& token = Token()) {
    return detail::initiate<void(error_code, ownership)>(token, &start_try_upgrade, session_.get_core(), path_,
                                                         options_, held.node_);
  }

  /// Lists the members that hold the lock and those that wait, in order. A downgraded writer is shown as a holder, but
  /// the readers that it lets in are shown as waiting, because only they themselves know better.
  ///
  /// Signature: `void(error_code, std::vector<line_member>)`.
  /// Errors: those of `lock::async_members`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: as `lock::async_members`.
  template <token_for<std::vector<line_member>> Token = default_token>
  auto async_members(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<line_member>)>(token, &start_members, session_.get_core(),
                                                                        path_);
  }

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }
  const line_options& options() const noexcept { return options_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  enum class mode { read, write };
  using core_ptr = std::shared_ptr<detail::core>;
  using own_node_ptr = std::shared_ptr<detail::own_node>;
  using owner_handler = detail::handler_for<void(error_code, ownership)>;

  template <class Token>
  auto acquire(mode how, time_budget budget, Token&& token) {
    return detail::initiate<void(error_code, ownership)>(token, &start_acquire, session_.get_core(), path_, options_,
                                                         how, budget);
  }
  template <class Token>
  auto try_acquire(mode how, Token&& token) {
    return detail::initiate<void(error_code, ownership)>(token, &start_try_acquire, session_.get_core(), path_,
                                                         options_, how);
  }
  static void start_acquire(owner_handler, core_ptr, std::string, line_options, mode, lease_clock::duration);
  static void start_try_acquire(owner_handler, core_ptr, std::string, line_options, mode);
  static void start_downgrade(detail::handler_for<void(error_code)>, core_ptr, std::string, own_node_ptr);
  static void start_try_upgrade(owner_handler, core_ptr, std::string, line_options, own_node_ptr);
  static void start_members(detail::handler_for<void(error_code, std::vector<line_member>)>, core_ptr, std::string);

  session session_;
  std::string path_;
  line_options options_;
};

}  // namespace zkrecipes
