// A limited number of permits, shared by several holders.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/diagnostic.hpp>
#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class permits;
}

/// The state of a semaphore.
struct semaphore_state {
  std::int32_t size = 0;   ///< Number of permits; 0: nobody has used this path yet.
  std::int64_t taken = 0;  ///< Permits that are held. More than `size` for a while after a resize to fewer.
  std::size_t holders = 0;
  std::size_t waiting = 0;
};

/// A number of permits at one path. An acquisition takes all of its permits at once or waits, first come, first served:
/// one of many permits is not overtaken by later ones of few.
///
/// Each acquisition is one place in the line, and its node's name tells its number of permits. A member holds its
/// permits if those of all members up to and including it fit into the size. The first waiter watches the holders. Each
/// other waiter watches the member ahead of it, which says so in its node when it is let in. So a release wakes one
/// waiter, and each waiter that is let in wakes the next.
///
/// The size is kept at the path, and the first user writes it. An object that was made with another size is refused,
/// unless its size is the one that the last resize replaced. The size is compared once: an object that has used the
/// semaphore follows it through any number of resizes.
///
/// For what an ownership guarantees see `ownership`. The tokens of holders grow in order of arrival. The path can not
/// be shared with Curator or kazoo, because their semaphores are a lock and a second list of nodes.
///
/// Thread safety: safe.
/// Cancellation of every operation: all types. No node of ours stays behind: it is removed in the background, for as
/// long as the session lives.
class semaphore {
 public:
  using executor_type = boost::asio::any_io_executor;
  static constexpr std::int32_t max_permits = 1'000'000;

  semaphore() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// `size`: permits in all, 1 to `max_permits`.
  /// \throws std::invalid_argument naming the bad path, size or option.
  semaphore(session over, std::string path, std::int32_t size, line_options options);
  semaphore(session over, std::string path, std::int32_t size)
      : semaphore(std::move(over), std::move(path), size, line_options()) {}

  /// Gets in line and waits for permits: the first overload for one, the others for `permits` (1 to `max_permits`),
  /// which are held and released together. The path is created if it is missing. `why` tells what is behind
  /// `size_mismatch` and `foreign_data`.
  /// \throws std::invalid_argument unless `permits` is 1 to `max_permits`.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `size_mismatch` (the diagnostic names both sizes), `foreign_data` (another recipe has its data there, or
  /// is using the path), `bad_arguments` (more permits than there are, also if a resize makes it so while we wait), and
  /// those of `lock::async_acquire`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip if the permits are free (`create`, `getChildren` and `getData` of the path, sent together),
  /// three more for the first user of a missing path. Else one more to watch (each waiter the path; the first waiter
  /// the nodes of all holders, each other waiter that of the member ahead), one notification, and one more round trip
  /// if the member ahead has told us. One write more, in the background, if we waited, or if others are behind us when
  /// we are let in.
  template <token_for<ownership> Token = default_token>
  auto async_acquire(Token&& token = Token()) {
    return async_acquire(1, std::forward<Token>(token));
  }
  template <token_for<ownership> Token = default_token>
  auto async_acquire(std::int32_t permits, Token&& token = Token()) {
    return async_acquire_for(permits, lease_clock::duration::max(), std::forward<Token>(token));
  }
  template <token_for<ownership> Token = default_token>
  auto async_acquire(std::int32_t permits, diagnostic why, Token&& token = Token()) {
    return async_acquire_for(permits, lease_clock::duration::max(), std::move(why), std::forward<Token>(token));
  }

  /// As `async_acquire`, with one budget of time for everything: connecting, getting in line, waiting. The first
  /// overload is for one permit. \throws std::invalid_argument unless `permits` is 1 to `max_permits`.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `timed_out`, and those of `async_acquire`.
  /// Cancellation: as the class says; the end of the budget leaves no node behind either.
  /// Thread safety: as the class says.
  /// Cost: as `async_acquire`.
  template <token_for<ownership> Token = default_token>
  auto async_acquire_for(time_budget budget, Token&& token = Token()) {
    return async_acquire_for(1, budget, std::forward<Token>(token));
  }
  template <token_for<ownership> Token = default_token>
  auto async_acquire_for(std::int32_t permits, time_budget budget, Token&& token = Token()) {
    return async_acquire_for(permits, budget, diagnostic(), std::forward<Token>(token));
  }
  template <token_for<ownership> Token = default_token>
  auto async_acquire_for(std::int32_t permits, time_budget budget, diagnostic why, Token&& token = Token()) {
    return detail::initiate<void(error_code, ownership)>(token, &start_acquire, permits_, checked(permits), budget,
                                                         std::move(why));
  }

  /// Takes permits if they are free and nobody waits: the first overload one, the others `permits`. It does not wait
  /// for another member. \throws std::invalid_argument unless `permits` is 1 to `max_permits`.
  ///
  /// Signature: `void(error_code, ownership)`.
  /// Errors: `busy` (too few are free, or another member waits), and those of `async_acquire`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip (two reads, sent together) and no write if they are not free; two round trips if they are.
  /// More for the first user of the path, as for `async_acquire`.
  template <token_for<ownership> Token = default_token>
  auto async_try_acquire(Token&& token = Token()) {
    return async_try_acquire(1, std::forward<Token>(token));
  }
  template <token_for<ownership> Token = default_token>
  auto async_try_acquire(std::int32_t permits, Token&& token = Token()) {
    return async_try_acquire(permits, diagnostic(), std::forward<Token>(token));
  }
  template <token_for<ownership> Token = default_token>
  auto async_try_acquire(std::int32_t permits, diagnostic why, Token&& token = Token()) {
    return detail::initiate<void(error_code, ownership)>(token, &start_try_acquire, permits_, checked(permits),
                                                         std::move(why));
  }

  /// Changes the number of permits to `size` (1 to `max_permits`) while they are in use: more let waiters in at once,
  /// fewer take nothing from the holders. Objects in use go on working, this one too, whatever size they were made
  /// with.
  /// \throws std::invalid_argument naming a bad size.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `foreign_data`, `bad_version` (somebody else resized it at this moment), `no_auth`, and those of
  /// `session`.
  /// Cancellation: all types; the size may have been set. If a resize to fewer is cancelled or fails after that, more
  /// members than necessary are woken until it is called again, and nothing else.
  /// Thread safety: as the class says; all users of the path are affected.
  /// Cost: two round trips, one of them a write; two more if the path is missing. A resize to fewer takes two more at
  /// the end, and up to two for each member that holds, one after the other.
  template <token_for<> Token = default_token>
  auto async_resize(std::int32_t size, Token&& token = Token()) {
    return async_resize(size, diagnostic(), std::forward<Token>(token));
  }
  template <token_for<> Token = default_token>
  auto async_resize(std::int32_t size, diagnostic why, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_resize, permits_, checked(size), std::move(why));
  }

  /// Reads the size, and counts the permits that are taken, the holders and the waiters.
  ///
  /// Signature: `void(error_code, semaphore_state)`.
  /// Errors: `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip: two reads, sent together.
  template <token_for<semaphore_state> Token = default_token>
  auto async_state(Token&& token = Token()) {
    return async_state(diagnostic(), std::forward<Token>(token));
  }
  template <token_for<semaphore_state> Token = default_token>
  auto async_state(diagnostic why, Token&& token = Token()) {
    return detail::initiate<void(error_code, semaphore_state)>(token, &start_state, permits_, std::move(why));
  }

  /// Lists the members that hold permits and those that wait, in order.
  ///
  /// Signature: `void(error_code, std::vector<line_member>)`.
  /// Errors: those of `async_state`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: three round trips: that of `async_state`, `getChildren`, then one `getData` for each member, all sent
  /// together.
  template <token_for<std::vector<line_member>> Token = default_token>
  auto async_members(Token&& token = Token()) {
    return async_members(diagnostic(), std::forward<Token>(token));
  }
  template <token_for<std::vector<line_member>> Token = default_token>
  auto async_members(diagnostic why, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<line_member>)>(token, &start_members, permits_,
                                                                        std::move(why));
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const line_options& options() const noexcept;
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using permits_ptr = std::shared_ptr<detail::permits>;
  using owner_handler = detail::handler_for<void(error_code, ownership)>;
  static std::int32_t checked(std::int32_t permits);
  static void start_acquire(owner_handler, permits_ptr, std::int32_t, lease_clock::duration, diagnostic);
  static void start_try_acquire(owner_handler, permits_ptr, std::int32_t, diagnostic);
  static void start_resize(detail::handler_for<void(error_code)>, permits_ptr, std::int32_t, diagnostic);
  static void start_state(detail::handler_for<void(error_code, semaphore_state)>, permits_ptr, diagnostic);
  static void start_members(detail::handler_for<void(error_code, std::vector<line_member>)>, permits_ptr, diagnostic);

  session session_;
  permits_ptr permits_;
};

}  // namespace zkrecipes
