// A node that is kept alive: it is made again when the session or another client has removed it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class kept_node;
}

/// Settings of a `persistent_node`.
struct persistent_node_options {
  /// `ephemeral` or `persistent`.
  create_mode mode = create_mode::ephemeral;
  /// The rights of the node; empty: the default of the session.
  acl access{};
  /// When another client deletes the node: true makes it again, false gives up with `node_removed`.
  bool restore = true;
  /// Pause after a try that failed; doubles up to `max_pause`, +-50 % at random. 1 ms to 1 h.
  std::chrono::milliseconds first_pause{100};
  std::chrono::milliseconds max_pause{10'000};
};

/// The state of a `persistent_node`.
struct persistent_node_status {
  /// Whether the node stands and is ours, as far as we know. Stays true while the connection is broken, because the
  /// session may live on.
  bool present = false;
  /// Why the node does not stand, or does not hold our data. We try again, except after `node_removed` (without
  /// `restore`) and where `is_fatal`. `busy`: another session's ephemeral node is in the way; `foreign_data`: a
  /// persistent node is; we take over when it goes.
  error_code error;
  std::int64_t czxid = 0;     ///< The `czxid` of the node, while it is present.
  std::uint64_t created = 0;  ///< How often the node was made, the first time included.
  std::uint64_t changes = 0;  ///< Number of changes of this status so far.
};

/// A node that stands for as long as the object lives, across incarnations of the session.
///
/// A connection that breaks and comes back within the session costs one read and no write: the node is not removed and
/// made again. After a create or a write whose reply was lost we look at the node: an ephemeral node is ours if it
/// belongs to our session.
///
/// A persistent node (`create_mode::persistent`) has no owner. One that is there already, whoever made it, is taken
/// over: it gets our data, and is removed at the end. Let only one object keep a path at a time. A persistent node
/// outlives a process that crashes.
///
/// Data that others write into the node stays until we set its data or make the node again.
///
/// If another client's node has taken the place of ours, it is neither written to nor removed: before a write or a
/// removal we look whose node it is, and then write on condition of the version seen. ZooKeeper has no condition on the
/// owner, so one gap remains: a node that is deleted and made again between that look and the write, a round trip
/// later, and has the same version by then.
///
/// Move-only; the destructor removes the node in the background. For a persistent node that keeps the session open
/// until the node has gone, without a connection for at most `session_options::timeout`; after that the node stays. An
/// ephemeral node goes with the end of its session at the latest. Thread safety: safe.
class persistent_node {
 public:
  using executor_type = boost::asio::any_io_executor;

  /// Starts to make the node, with its parents. Data: at most 1 000 000 bytes.
  /// \throws std::invalid_argument naming the bad path or option.
  persistent_node(session over, std::string path, std::string data, persistent_node_options options);
  persistent_node(session over, std::string path, std::string data)
      : persistent_node(std::move(over), std::move(path), std::move(data), persistent_node_options()) {}
  persistent_node() noexcept;  ///< No node, as one that was moved from: operations complete with `closed`.
  persistent_node(persistent_node&&) noexcept;
  persistent_node& operator=(persistent_node&&) noexcept;
  ~persistent_node();

  /// Completes when the node stands, or with what keeps it from that now (see `persistent_node_status::error`); the
  /// object goes on trying in the background all the same.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `busy`, `foreign_data` (see `persistent_node_status::error`), `no_auth`, `node_removed` (without
  /// `restore`), `no_node` (the root of the session is missing), `no_children_for_ephemerals`, `invalid_acl`,
  /// `too_large`, `server_error` (for longer than `retry_policy::limit`), `connection_loss` (no connection for as
  /// long), `closed`, `auth_failed`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 2 requests (the create and a read with a watch); 3 round trips if the parents have to be made.
  template <token_for<> Token = default_token>
  auto async_started(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_started, node_);
  }

  /// Replaces the data, at most 1 000 000 bytes. Completes when the node holds it, or newer data of ours. A node that
  /// does not stand gets this data when it is made. After `connection_loss` it is written as soon as that can be.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `too_large` (nothing was sent), `node_removed` (without `restore`), `closed`, `auth_failed`; `no_auth` and
  /// the others of `async_started`, which keep it from being written now: the object goes on trying.
  /// Cancellation: all types; it ends only the wait, and the data is written all the same.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 3 requests: a look (a transaction that changes nothing, and a read) and the write; then a
  /// read in the background.
  template <token_for<> Token = default_token>
  auto async_set_data(std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_set_data, node_, std::move(data));
  }

  persistent_node_status status() const;

  /// Completes with the present status when it has changed more often than `seen`.
  ///
  /// Signature: `void(error_code, persistent_node_status)`.
  /// Errors: `closed` (there will be no other change).
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: none.
  template <token_for<persistent_node_status> Token = default_token>
  auto async_status_change(std::uint64_t seen, Token&& token = Token()) {
    return detail::initiate<void(error_code, persistent_node_status)>(token, &start_status_change, node_, seen);
  }

  /// Removes the node. Completes when the server says that the node is gone, or when its session is over. A server that
  /// is too busy is asked again.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: after each of them the node may still stand: `no_auth` (an ephemeral node goes with its session); for a
  /// persistent node also `not_empty`, `server_error`, `closed` and `auth_failed` (the session was over before the node
  /// could be removed).
  /// Cancellation: all types; it ends only the wait, and the removal goes on.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 3 requests: a look as in `async_set_data`, and the removal.
  template <token_for<> Token = default_token>
  auto async_close(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_close, node_);
  }

  const std::string& path() const noexcept;
  /// The handle has no share in its session, which is closed when all others are gone: then it is no session.
  session get_session() const noexcept { return session(session_.lock()); }
  const persistent_node_options& options() const noexcept;
  executor_type get_executor() const noexcept;

  /// For the recipes.
  explicit persistent_node(std::shared_ptr<detail::kept_node> node) noexcept;
  const std::shared_ptr<detail::kept_node>& get_node() const noexcept { return node_; }

 private:
  using node_ptr = std::shared_ptr<detail::kept_node>;
  static void start_started(detail::handler_for<void(error_code)>, node_ptr);
  static void start_set_data(detail::handler_for<void(error_code)>, node_ptr, std::string);
  static void start_status_change(detail::handler_for<void(error_code, persistent_node_status)>, node_ptr,
                                  std::uint64_t);
  static void start_close(detail::handler_for<void(error_code)>, node_ptr);

  std::weak_ptr<detail::core> session_;
  node_ptr node_;
};

}  // namespace zkrecipes
