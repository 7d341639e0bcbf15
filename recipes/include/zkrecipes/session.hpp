// A session with a ZooKeeper ensemble, on which every recipe is built.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <zkrecipes/completion_token.hpp>
#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/diagnostic.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/node.hpp>
#include <zkrecipes/session_options.hpp>
#include <zkrecipes/tls_options.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes {

/// The reason of a `connection_failure`.
enum class failure_reason {
  refused,      ///< Nothing listens at the address.
  unreachable,  ///< The network does not lead there; `connection_failure::error` has the system's reason.
  silent,       ///< No answer within the connect timeout: packets are dropped, or the server is paused.
  closed,       ///< The server closed the connection: no quorum, too many connections, a port for TLS only.
  /// The server refused the credentials (`session_options::digest`), or serves only sessions that have some:
  /// `connection_failure::error` tells which of the two, `auth_failed` or `auth_required`.
  authentication,
  read_only,        ///< The server has no quorum and serves reads only.
  session_refused,  ///< The server says that the session is over; a new one is asked for.
  /// The host name has no address: `connection_failure::error` is what the resolver said, or `timed_out`, if it said
  /// nothing.
  unresolved,
  no_descriptors,  ///< This process has no file descriptor left.
  tls              ///< No secure connection: `connection_failure::error` is a `tls_errc`.
};

const char* to_string(failure_reason reason) noexcept;

/// The last failure of one server. It is forgotten when the server has answered a request.
struct connection_failure {
  std::string server;  ///< "address:port", or "name:port" of a name that is not resolved.
  failure_reason reason = failure_reason::closed;
  error_code error;
  std::chrono::system_clock::time_point when;
  std::uint64_t count = 0;  ///< Failures of this server in a row.
};

/// The states of a session.
enum class session_state {
  connecting,  ///< No connection yet for this incarnation.
  connected,
  suspended,  ///< The connection broke; the ZooKeeper session may live on.
  expired,    ///< The server ended the session; a new incarnation follows.
  closed,     ///< After `async_close`, or after `auth_failed`. It is the last state.
};

const char* to_string(session_state state) noexcept;

/// A state of the session, why it was entered, and which ZooKeeper session it refers to.
struct session_status {
  session_state state = session_state::connecting;
  /// Why the connection or the ZooKeeper session ended. While there is no connection also `no_servers` or
  /// `no_descriptors`, reported anew at every try to connect.
  error_code reason;
  std::uint64_t incarnation = 0;         ///< Number of the current ZooKeeper session; so many were established so far.
  std::int64_t session_id = 0;           ///< The server's id of the current ZooKeeper session; 0: there is none.
  std::chrono::milliseconds timeout{0};  ///< The session timeout as negotiated with the server.
  std::string server;                    ///< The server connected to, as "address:port"; empty without a connection.
  std::uint64_t changes = 0;             ///< Number of changes of state so far.
  /// Why there is no connection: the last failure of each server that has answered no request since. A failure is no
  /// change of state: `session_options::log` tells it at once.
  std::vector<connection_failure> failures;
  /// The guardian (`session_options::guardian`) holds what this session has told it. No change of state.
  bool is_guarded = false;
};

}  // namespace zkrecipes

namespace zkrecipes::detail {

class core;

/// Each function begins the operation of its name, and calls the handler when that has ended.
struct session_operations {
  using core_ptr = std::shared_ptr<core>;
  using secret_ptr = std::shared_ptr<const credentials>;
  template <class... Results>
  using handler = handler_for<void(error_code, Results...)>;

  static void start_status_change(handler<session_status>, core_ptr, std::uint64_t);
  static void start_connected_for(handler<>, core_ptr, time_budget);
  static void start_create(handler<created_node>, core_ptr, std::string, std::string, create_mode, acl);
  static void start_create_with_parents(handler<created_node>, core_ptr, std::string, std::string, create_mode);
  static void start_ensure_path(handler<>, core_ptr, std::string);
  static void start_remove(handler<>, core_ptr, std::string, std::int32_t);
  static void start_remove_with_children(handler<std::size_t>, core_ptr, std::string);
  static void start_get(handler<node_data>, core_ptr, std::string);
  static void start_set(handler<node_stat>, core_ptr, std::string, std::string, std::int32_t);
  static void start_exists(handler<node_stat>, core_ptr, std::string);
  static void start_children(handler<node_children>, core_ptr, std::string);
  static void start_commit(handler<std::vector<operation_result>>, core_ptr, transaction);
  static void start_sync(handler<>, core_ptr);
  static void start_get_acl(handler<acl>, core_ptr, std::string);
  static void start_set_acl(handler<>, core_ptr, std::string, acl, std::int32_t);
  static void start_add_credentials(handler<>, core_ptr, secret_ptr);
  /// Takes them to a place that is wiped, and leaves none of the secret in `given`.
  static secret_ptr hold(credentials& given);
  static void start_data_change(handler<node_data>, core_ptr, std::string, std::int64_t);
  static void start_children_change(handler<node_children>, core_ptr, std::string, std::int64_t);
  static void start_close_for(handler<>, core_ptr, time_budget, diagnostic);
  static void start_close(handler<>, core_ptr);
};

}  // namespace zkrecipes::detail

namespace zkrecipes {

/// One object for the life of the program: it outlives ZooKeeper sessions. Each ZooKeeper session is an *incarnation*.
/// Everything that was owned in one incarnation is lost in the next. Copies share one session, which has no thread of
/// its own. It is closed when the last copy is gone (recipes hold a copy, too). Paths, "/a/b", are below the root.
///
/// Thread safety: safe. Handlers run on their associated executor (by default the session's), never inside the call:
/// see docs/operations.md. The execution context must outlive the session and all that was made on it.
/// Cancellation of every operation: `terminal`, `partial` and `total` end the wait at once with `operation_aborted`. A
/// request that was already sent may still take effect. Writes of this class are not sent again.
///
/// Errors of every operation: `closed`, `session_expired` (the server ended the session while the request was in
/// flight), `connection_loss` (no connection within `retry_policy::limit`, or it broke while a write was in flight,
/// which may have taken effect: see `retry_policy`), `auth_failed`, `bad_arguments` (a malformed path, mode or ACL),
/// `too_large` (more than `session_options::jute_maxbuffer`; nothing was sent), `server_error` (the server could not do
/// it, or was too busy for longer than `retry_policy::limit`), and the answers of the server that the operation names.
class session {
 public:
  using executor_type = boost::asio::any_io_executor;

  session() noexcept = default;  ///< No session, like one that was moved from: operations complete with `closed`.
  /// Starts to connect in the background.
  /// \throws std::invalid_argument naming the executor if it is empty, or the field of `options` with a bad value.
  session(boost::asio::any_io_executor executor, session_options options);
  /// The same, on the executor of an execution context, such as an `io_context`.
  template <std::derived_from<boost::asio::execution_context> Context>
  session(Context& context, session_options options) : session(context.get_executor(), std::move(options)) {}

  /// The executor that the session was made with. Empty for no session.
  executor_type get_executor() const noexcept;

  session_status status() const;
  session_counters counters() const;
  /// The end of our lease if no further request is answered: see `lease_mode`. Without a session the clock's zero.
  lease_clock::time_point valid_until() const;

  /// Completes when there have been more changes of state than `seen` (`session_status::changes`), with the status.
  ///
  /// Signature: `void(error_code, session_status)`.
  /// Errors: `closed` or `auth_failed` if there will be no further change.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: no request.
  template <token_for<session_status> Token = default_token>
  auto async_status_change(std::uint64_t seen, Token&& token = Token()) {
    return detail::initiate<void(error_code, session_status)>(token, &begin::start_status_change, core_, seen);
  }

  /// Completes when the session is connected, however long that takes.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `closed` or `auth_failed`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: no request.
  template <token_for<> Token = default_token>
  auto async_connected(Token&& token = Token()) {
    return async_connected_for(lease_clock::duration::max(), std::forward<Token>(token));
  }

  /// As `async_connected`, for so long at most.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `timed_out` (`session_status::failures` tells why there is no connection), `closed` or `auth_failed`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: no request.
  template <token_for<> Token = default_token>
  auto async_connected_for(time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &begin::start_connected_for, core_, budget);
  }

  /// Creates a node with any `create_mode`. The first overload uses `session_options::default_acl`. The second uses
  /// `access`, or the default if that is empty.
  ///
  /// Signature: `void(error_code, created_node)`.
  /// Errors: `node_exists`, `no_node` (the parent is missing), `no_children_for_ephemerals` (the parent is ephemeral),
  /// `no_auth`, `invalid_acl`, and those of the class.
  /// Cancellation: as the class says; the node may have been created.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one write.
  template <token_for<created_node> Token = default_token>
  auto async_create(std::string path, std::string data, create_mode mode, Token&& token = Token()) {
    return async_create(std::move(path), std::move(data), mode, acl(), std::forward<Token>(token));
  }
  template <token_for<created_node> Token = default_token>
  auto async_create(std::string path, std::string data, create_mode mode, acl access, Token&& token = Token()) {
    return detail::initiate<void(error_code, created_node)>(token, &begin::start_create, core_, std::move(path),
                                                            std::move(data), mode, std::move(access));
  }

  /// As `async_create` with the default ACL, and creates missing parents as persistent nodes without data.
  ///
  /// Signature: `void(error_code, created_node)`.
  /// Errors: those of `async_create`; `no_node` if the root is missing, or others removed the parents 100 times.
  /// Cancellation: as the class says; the node or some of its parents may have been created.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one write; if a parent is missing two more, and one `create` for each parent.
  template <token_for<created_node> Token = default_token>
  auto async_create_with_parents(std::string path, std::string data, create_mode mode, Token&& token = Token()) {
    return detail::initiate<void(error_code, created_node)>(token, &begin::start_create_with_parents, core_,
                                                            std::move(path), std::move(data), mode);
  }

  /// Creates a persistent node without data, and all its missing parents; no error if it exists. For "/" it only tells
  /// whether the root exists; `session_options::create_root` and `async_create` create a missing root.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node` (the root is missing), those of `async_create` but `node_exists`, and those of the class.
  /// Cancellation: as the class says; some of the nodes may have been created.
  /// Thread safety: as the class says.
  /// Cost: one round trip. One `create` for each level of the path, all sent together; for "/" one read.
  template <token_for<> Token = default_token>
  auto async_ensure_path(std::string path, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &begin::start_ensure_path, core_, std::move(path));
  }

  /// Deletes a node if its data has this version (`any_version`: whatever the version).
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node`, `bad_version`, `not_empty`, `no_auth`, and those of the class.
  /// Cancellation: as the class says; the node may have been deleted.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one write.
  template <token_for<> Token = default_token>
  auto async_remove(std::string path, std::int32_t version, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &begin::start_remove, core_, std::move(path), version);
  }

  /// Deletes a node, whatever its version, and everything below it, the leaves first; also what others create there
  /// meanwhile. This is no transaction. A node that is missing is no error, so a call after an error goes on. Requests
  /// are sent again after a lost connection. Completes with the number of confirmed deletions, also on failure.
  ///
  /// Signature: `void(error_code, std::size_t)`.
  /// Errors: `bad_arguments` (also for "/"), `not_empty` (others created nodes 100 times), those of `async_remove`.
  /// Cancellation: as the class says; what was deleted stays deleted.
  /// Thread safety: as the class says.
  /// Cost: one round trip for a leaf; three for a node with up to 99 leaves, and one more for each 100 further ones.
  template <token_for<std::size_t> Token = default_token>
  auto async_remove_with_children(std::string path, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::size_t)>(token, &begin::start_remove_with_children, core_,
                                                           std::move(path));
  }

  /// Reads a node's data and metadata from the server that we are connected to.
  ///
  /// Signature: `void(error_code, node_data)`.
  /// Errors: `no_node`, `no_auth`, and those of the class.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one read.
  template <token_for<node_data> Token = default_token>
  auto async_get(std::string path, Token&& token = Token()) {
    return detail::initiate<void(error_code, node_data)>(token, &begin::start_get, core_, std::move(path));
  }

  /// Writes a node's data if it has this version (or `any_version`), and completes with the new metadata.
  ///
  /// Signature: `void(error_code, node_stat)`.
  /// Errors: `no_node`, `bad_version`, `no_auth`, and those of the class.
  /// Cancellation: as the class says; the data may have been written.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one write.
  template <token_for<node_stat> Token = default_token>
  auto async_set(std::string path, std::string data, std::int32_t version, Token&& token = Token()) {
    return detail::initiate<void(error_code, node_stat)>(token, &begin::start_set, core_, std::move(path),
                                                         std::move(data), version);
  }

  /// Reads a node's metadata from the server that we are connected to.
  ///
  /// Signature: `void(error_code, node_stat)`.
  /// Errors: `no_node`, and those of the class.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one read.
  template <token_for<node_stat> Token = default_token>
  auto async_exists(std::string path, Token&& token = Token()) {
    return detail::initiate<void(error_code, node_stat)>(token, &begin::start_exists, core_, std::move(path));
  }

  /// Reads the names of a node's children, and its metadata, from the server that we are connected to.
  ///
  /// Signature: `void(error_code, node_children)`.
  /// Errors: `no_node`, `no_auth`, and those of the class.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one read.
  template <token_for<node_children> Token = default_token>
  auto async_children(std::string path, Token&& token = Token()) {
    return detail::initiate<void(error_code, node_children)>(token, &begin::start_children, core_, std::move(path));
  }

  /// Commits all operations of the transaction or none. On failure the error is that of the operation that failed, and
  /// the results tell which one it was. An empty transaction succeeds without being sent.
  ///
  /// Signature: `void(error_code, std::vector<operation_result>)`.
  /// Errors: those of the operations (`no_node`, `node_exists`, `bad_version`, `not_empty`, ...), `bad_arguments` also
  /// for `create_mode::container`, and those of the class.
  /// Cancellation: as the class says; the transaction may have been committed.
  /// Thread safety: as the class says.
  /// Cost: one round trip and one write, however many operations there are.
  template <token_for<std::vector<operation_result>> Token = default_token>
  auto async_commit(transaction operations, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<operation_result>)>(token, &begin::start_commit, core_,
                                                                             std::move(operations));
  }

  /// Brings the server that we are connected to up to date with the leader. It is no guarantee: a deposed leader
  /// answers, too. What must not miss a change has to be a write (a check is enough), or a read sent behind one.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: those of the class.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip, no write.
  template <token_for<> Token = default_token>
  auto async_sync(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &begin::start_sync, core_);
  }

  /// Reads a node's ACL from the server that we are connected to.
  ///
  /// Signature: `void(error_code, acl)`.
  /// Errors: `no_node`, `no_auth`, and those of the class.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one read.
  template <token_for<acl> Token = default_token>
  auto async_get_acl(std::string path, Token&& token = Token()) {
    return detail::initiate<void(error_code, acl)>(token, &begin::start_get_acl, core_, std::move(path));
  }

  /// Replaces a node's ACL if it has this version (`node_stat::aversion`; `any_version`: whatever the version).
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node`, `bad_version` (of the ACL), `no_auth`, `invalid_acl`, and those of the class.
  /// Cancellation: as the class says; the ACL may have been replaced.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one write.
  template <token_for<> Token = default_token>
  auto async_set_acl(std::string path, acl access, std::int32_t acl_version, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &begin::start_set_acl, core_, std::move(path), std::move(access),
                                              acl_version);
  }

  /// Adds digest credentials to those of the session (`session_options::digest`), also to those that the guardian
  /// holds. The present connection and every later one has them, and what is begun afterwards is done with them.
  /// Completes when a server has them, which is no proof that a node accepts them: servers take any digest. They can
  /// not be removed. The library wipes its copy of the secret at the end of the session (docs/tls.md).
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `bad_arguments` (see `credentials`), `full` (32 of them, or 64 KiB together), `too_large` (for
  /// `session_options::jute_maxbuffer`), `closed`, `auth_failed` (they were refused, which ends this object). After
  /// `connection_loss`, `server_error` or a cancellation the session keeps them all the same.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip, two requests, no write; again after each lost connection.
  template <token_for<> Token = default_token>
  auto async_add_credentials(credentials added, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &begin::start_add_credentials, core_, begin::hold(added));
  }

  /// Completes when the node's data or existence differs from `seen_mzxid` (the `node_stat::mzxid` that was seen; 0:
  /// the node did not exist), with the present data and metadata. At once if it differs already.
  ///
  /// Signature: `void(error_code, node_data)`.
  /// Errors: `no_node` (the node was seen and does not exist now), `no_auth`, and those of the class.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: two round trips (`exists` with a watch, then `getData`) if it differs already; one if the node has gone.
  /// Else one to set the watch, and after the notification the same again; one more after each lost connection.
  template <token_for<node_data> Token = default_token>
  auto async_data_change(std::string path, std::int64_t seen_mzxid, Token&& token = Token()) {
    return detail::initiate<void(error_code, node_data)>(token, &begin::start_data_change, core_, std::move(path),
                                                         seen_mzxid);
  }

  /// Completes when the node's children differ from those seen with `seen_pzxid` (the `node_stat::pzxid` that was
  /// seen), with the present children. At once if they differ already.
  ///
  /// Signature: `void(error_code, node_children)`.
  /// Errors: `no_node`, `no_auth`, and those of the class.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: one round trip (`getChildren` with a watch); two if they do not differ yet; one for each lost connection.
  template <token_for<node_children> Token = default_token>
  auto async_children_change(std::string path, std::int64_t seen_pzxid, Token&& token = Token()) {
    return detail::initiate<void(error_code, node_children)>(token, &begin::start_children_change, core_,
                                                             std::move(path), seen_pzxid);
  }

  /// Ends the session. Everything owned is given up at once, and pending operations complete with `closed`. Completes
  /// when the server has confirmed, or after the connect timeout; then the session ends by the server's clock.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: none; `closed` if the object was moved from.
  /// Cancellation: none; it can not be cancelled.
  /// Thread safety: as the class says; it ends the session for all copies.
  /// Cost: one round trip, one request; none without a connection.
  template <token_for<> Token = default_token>
  auto async_close(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &begin::start_close, core_);
  }

  /// As `async_close`, for so long at most. Completes when all other operations of the session have completed, too.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `timed_out` (`why` names what is left; the object is closed all the same), `closed` (it was moved from).
  /// Cancellation: none; it can not be cancelled.
  /// Thread safety: as the class says; it ends the session for all copies.
  /// Cost: one round trip, one request; none without a connection.
  template <token_for<> Token = default_token>
  auto async_close_for(time_budget budget, diagnostic why, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &begin::start_close_for, core_, budget, why);
  }

  const std::shared_ptr<detail::core>& get_core() const noexcept { return core_; }  ///< For the recipes.
  explicit session(std::shared_ptr<detail::core> shared) noexcept : core_(std::move(shared)) {}

 private:
  using begin = detail::session_operations;

  std::shared_ptr<detail::core> core_;
};

}  // namespace zkrecipes
