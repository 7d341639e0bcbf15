// A session with a ZooKeeper ensemble: what every recipe stands on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/node.hpp>
#include <zkrecipes/session_options.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes {

namespace detail {
class core;
}

enum class session_state {
  connecting,  ///< No connection yet for this incarnation.
  connected,
  suspended,  ///< The connection broke; the ZooKeeper session may live on.
  expired,    ///< The server ended the session; a new incarnation follows.
  closed,     ///< By `async_close`, or for good after `auth_failed`.
};

const char* to_string(session_state state) noexcept;

/// A state, why it was entered, and which ZooKeeper session it is about.
struct session_status {
  session_state state = session_state::connecting;
  /// Besides what ended a connection or a session: `no_servers` and `no_descriptors`, told anew at every try, tell why there
  /// is no connection.
  error_code reason;
  std::uint64_t incarnation = 0;  ///< Number of ZooKeeper sessions established so far; the current one's number.
  std::int64_t session_id = 0;    ///< The server's id of it.
  std::chrono::milliseconds timeout{0};  ///< As negotiated.
  std::string server;             ///< The server connected to, as "address:port".
  std::uint64_t changes = 0;      ///< Number of changes of state so far.
};

struct node_data {
  std::string data;
  zkrecipes::stat stat;
};

struct node_children {
  std::vector<std::string> names;  ///< In no order.
  zkrecipes::stat stat;
};

struct created_node {
  std::string path;  ///< With the sequence number, if the mode has one.
  zkrecipes::stat stat;
};

/// One object for the life of the program; it outlives ZooKeeper sessions. Each of these is an *incarnation*: what was
/// owned in one is lost in the next.
///
/// It has no thread of its own and works on the given executor. Copies share one session; it is closed in the
/// background when the last copy (recipes hold one, too) is gone. Paths are absolute below the root, "/a/b".
///
/// Thread safety: safe. Handlers run on their associated executor (by default the session's), never inside the call: what
/// holds for every operation of the library is in docs/operations.md.
///
/// Cancellation of every operation: `terminal`, `partial` and `total` end the wait at once with `operation_aborted`; a
/// request that was already sent may take effect. Errors of every operation: `closed`, `session_expired` (in flight
/// when the server ended the session), `connection_loss` (not back within `retry_policy::limit`; see there),
/// `auth_failed`, `bad_arguments` (malformed path), `too_large` (more than `session_options::jute_maxbuffer`), and the server's answers that
/// each names.
class session {
 public:
  /// Starts to connect.
  /// \throws std::invalid_argument naming the field of `options` that has a bad value.
  session(boost::asio::any_io_executor executor, session_options options);

  boost::asio::any_io_executor get_executor() const noexcept;

  session_status status() const;
  session_counters counters() const;

  /// Until when the server surely knows this session, if no further request were answered.
  lease_clock::time_point valid_until() const;

  /// Completes when there have been more changes of state than `seen`, with the present status.
  /// Signature: void(error_code, session_status). Error: `closed` or `auth_failed` if there will be no other.
  template <class Token>
  auto async_status_change(std::uint64_t seen, Token&& token) {
    return detail::initiate<void(error_code, session_status)>(token, &start_status_change, core_, seen);
  }

  /// Completes when the session is connected. Error: `closed` or `auth_failed`.
  template <class Token>
  auto async_connected(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_connected, core_);
  }

  /// Creates a node. The mode may be any. Not tried again after a lost connection.
  /// Errors: `node_exists`, `no_node` (the parent), `no_children_for_ephemerals`, `no_auth`, `invalid_acl`.
  template <class Token>
  auto async_create(std::string path, std::string data, create_mode mode, Token&& token) {
    return detail::initiate<void(error_code, created_node)>(token, &start_create, core_, std::move(path),
                                                            std::move(data), mode, acl{});
  }
  template <class Token>
  auto async_create(std::string path, std::string data, create_mode mode, acl access, Token&& token) {
    return detail::initiate<void(error_code, created_node)>(token, &start_create, core_, std::move(path),
                                                            std::move(data), mode, std::move(access));
  }

  /// Creates a persistent node without data and all its missing parents; it is no error if it exists. Of "/" it only tells
  /// whether it is there: a missing root is made by `session_options::create_root` alone, and is `no_node` here.
  template <class Token>
  auto async_ensure_path(std::string path, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_ensure_path, core_, std::move(path));
  }

  /// Deletes a node. Errors: `no_node`, `bad_version`, `not_empty`, `no_auth`.
  template <class Token>
  auto async_remove(std::string path, std::int32_t version, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_remove, core_, std::move(path), version);
  }

  /// Reads a node. Errors: `no_node`, `no_auth`.
  template <class Token>
  auto async_get(std::string path, Token&& token) {
    return detail::initiate<void(error_code, node_data)>(token, &start_get, core_, std::move(path));
  }

  /// Writes a node. Errors: `no_node`, `bad_version`, `no_auth`.
  template <class Token>
  auto async_set(std::string path, std::string data, std::int32_t version, Token&& token) {
    return detail::initiate<void(error_code, stat)>(token, &start_set, core_, std::move(path), std::move(data),
                                                    version);
  }

  /// Error: `no_node`.
  template <class Token>
  auto async_exists(std::string path, Token&& token) {
    return detail::initiate<void(error_code, stat)>(token, &start_exists, core_, std::move(path));
  }

  /// Errors: `no_node`, `no_auth`.
  template <class Token>
  auto async_children(std::string path, Token&& token) {
    return detail::initiate<void(error_code, node_children)>(token, &start_children, core_, std::move(path));
  }

  /// Commits all operations or none. On failure the error is that of the operation that failed, and the results tell
  /// which one it was. Not tried again after a lost connection.
  template <class Token>
  auto async_commit(transaction operations, Token&& token) {
    return detail::initiate<void(error_code, std::vector<operation_result>)>(token, &start_commit, core_,
                                                                             std::move(operations));
  }

  /// Brings the server we are connected to up to date with the leader. Connected to the leader itself it may be answered
  /// before a change is made there that followers show already, for a moment; a leader that was deposed and has not noticed
  /// answers it, too. What must not miss a change is a write, or read behind one: a transaction that checks a node will do.
  template <class Token>
  auto async_sync(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_sync, core_);
  }

  /// Errors: `no_node`, `no_auth`.
  template <class Token>
  auto async_get_acl(std::string path, Token&& token) {
    return detail::initiate<void(error_code, acl)>(token, &start_get_acl, core_, std::move(path));
  }

  /// Errors: `no_node`, `bad_version` (of the ACL), `no_auth`, `invalid_acl`.
  template <class Token>
  auto async_set_acl(std::string path, acl access, std::int32_t acl_version, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_set_acl, core_, std::move(path), std::move(access),
                                              acl_version);
  }

  /// Completes when the node's data or existence differs from `seen` (`mzxid`; 0: it did not exist), with the present
  /// state; error `no_node` if it does not exist now.
  template <class Token>
  auto async_changed(std::string path, std::int64_t seen_mzxid, Token&& token) {
    return detail::initiate<void(error_code, node_data)>(token, &start_changed, core_, std::move(path), seen_mzxid);
  }

  /// Completes when the children differ from those seen with this `pzxid`. Error: `no_node`.
  template <class Token>
  auto async_children_changed(std::string path, std::int64_t seen_pzxid, Token&& token) {
    return detail::initiate<void(error_code, node_children)>(token, &start_children_changed, core_, std::move(path),
                                                             seen_pzxid);
  }

  /// Ends the session: what is owned is given up at once (`ownership::error` says `closed`), pending operations complete
  /// with `closed`. Completes when the server has confirmed, at the latest after the connect timeout (then the server ends it by its own clock). Cannot
  /// be cancelled. Errors: none.
  template <class Token>
  auto async_close(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_close, core_);
  }

  /// For the recipes; the type is not public.
  const std::shared_ptr<detail::core>& get_core() const noexcept { return core_; }
  explicit session(std::shared_ptr<detail::core> shared) noexcept : core_(std::move(shared)) {}

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  template <class... Results>
  using handler = detail::handler_for<void(error_code, Results...)>;

  static void start_status_change(handler<session_status>, core_ptr, std::uint64_t);
  static void start_connected(handler<>, core_ptr);
  static void start_create(handler<created_node>, core_ptr, std::string, std::string, create_mode, acl);
  static void start_ensure_path(handler<>, core_ptr, std::string);
  static void start_remove(handler<>, core_ptr, std::string, std::int32_t);
  static void start_get(handler<node_data>, core_ptr, std::string);
  static void start_set(handler<stat>, core_ptr, std::string, std::string, std::int32_t);
  static void start_exists(handler<stat>, core_ptr, std::string);
  static void start_children(handler<node_children>, core_ptr, std::string);
  static void start_commit(handler<std::vector<operation_result>>, core_ptr, transaction);
  static void start_sync(handler<>, core_ptr);
  static void start_get_acl(handler<acl>, core_ptr, std::string);
  static void start_set_acl(handler<>, core_ptr, std::string, acl, std::int32_t);
  static void start_changed(handler<node_data>, core_ptr, std::string, std::int64_t);
  static void start_children_changed(handler<node_children>, core_ptr, std::string, std::int64_t);
  static void start_close(handler<>, core_ptr);

  core_ptr core_;
};

}  // namespace zkrecipes
