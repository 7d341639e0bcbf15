// The state of a whole shard group, kept up to date.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/consumer/shard_group_view.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class group_follower;
}

/// Follows a shard group for as long as the object lives, as `shard_group::async_view` would show it: for programs that
/// look on. A watch lies on each record, member and note, so a group that does not change costs no request, and a
/// change costs the reading of what has changed. States in between may be skipped. The parts are read one after the
/// other, so they are not all as of one moment.
///
/// Move-only; the destructor ends the following and removes the watches, a request each. Thread safety: safe.
class shard_group_follower {
 public:
  using executor_type = boost::asio::any_io_executor;

  shard_group_follower() noexcept;  ///< Follows nothing, like one that was moved from: operations complete with
                                    ///< `closed`.
  /// Starts to read. `path`: of the group, which may be missing and come later: it is looked for again, every ten
  /// seconds at least. `interval`: least time from one reading
  /// to the next, see `children_view_options::interval`.
  /// \throws std::invalid_argument naming the bad path or interval.
  shard_group_follower(session over, std::string path,
                       std::chrono::milliseconds interval = std::chrono::milliseconds(100));
  shard_group_follower(shard_group_follower&&) noexcept;
  shard_group_follower& operator=(shard_group_follower&&) noexcept;
  ~shard_group_follower();

  /// Completes with the present state as soon as its `shard_group_view::revision` differs from `seen` (0: as soon as
  /// there is one).
  ///
  /// Signature: `void(error_code, shard_group_view)`.
  /// Errors: `no_node` (there is no group), `foreign_data` (another recipe uses the path), `no_auth` (a list or the
  /// group must not be read), `server_error` (the server has been too busy for longer than `retry_policy::limit`): the
  /// following goes on in the background, and a later call may succeed; `closed`, `auth_failed`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: none: the follower reads by itself. The first state takes three round trips for up to a thousand nodes, and
  /// one more for each further thousand.
  template <token_for<shard_group_view> Token = default_token>
  auto async_change(std::uint64_t seen, Token&& token = Token()) {
    return detail::initiate<void(error_code, shard_group_view)>(token, &start_change, follower_, seen);
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using follower_ptr = std::shared_ptr<detail::group_follower>;
  static void start_change(detail::handler_for<void(error_code, shard_group_view)>, follower_ptr, std::uint64_t);

  session session_;
  follower_ptr follower_;
};

}  // namespace zkrecipes
