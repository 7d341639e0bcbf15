// Registers instances of services and watches them. Shared with Curator's x-discovery.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/children_view.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/persistent_node.hpp>

namespace zkrecipes {

/// How long a registration lives.
enum class service_type {
  dynamic,             ///< As long as the session that registered it.
  static_node,         ///< Until it is unregistered.
  permanent,           ///< The same; Curator leaves it when it closes. We read it, but do not register it.
  dynamic_sequential,  ///< We read it, but do not register it.
};

/// One instance of a service, as it stands in its node.
struct service_instance {
  std::string name{};     ///< The name of the service; no slash.
  std::string id{};       ///< Unique within the service; no slash. Empty at registration: a GUID is used.
  std::string address{};  ///< Host name or number.
  std::optional<std::int32_t> port{};
  std::optional<std::int32_t> ssl_port{};
  std::string payload{};               ///< JSON text, whatever the users of the service agree on; empty: null.
  std::int64_t registration_time = 0;  ///< Milliseconds since 1970; 0 at registration: now.
  service_type type = service_type::dynamic;
  std::string uri_spec{};  ///< JSON text as Curator's UriSpec is written; empty: null.
  /// Whether the instance wants work. False: it is draining, or not ready yet; a `service_provider` does not choose it.
  /// (Curator reads this, but does not write it unless told to.)
  bool enabled = true;

  friend bool operator==(const service_instance&, const service_instance&) = default;
};

/// The instance as Jackson writes Curator's ServiceInstance. Nothing if a text is not UTF-8, or `payload` or `uri_spec`
/// is not JSON.
std::optional<std::string> to_json(const service_instance& instance);

/// Nothing if the text is not such an instance. Fields that are missing have their defaults, unknown fields are
/// ignored.
std::optional<service_instance> parse_service_instance(std::string_view text);

/// A registration that stands across sessions, like a `persistent_node`. A connection that breaks and comes back within
/// the session writes nothing, so nobody sees the service flap.
///
/// Move-only; the destructor unregisters in the background. Thread safety: safe.
class service_registration {
 public:
  using executor_type = boost::asio::any_io_executor;

  /// Replaces the description, at most 1 000 000 bytes as JSON; `name`, `id` and `type` have to stay. What the
  /// registration itself has chosen stays, too: an empty `id` and a `registration_time` of 0 stand for those that it
  /// has.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `bad_arguments` (one of the three is different, or the description can not be written as JSON), and as
  /// `persistent_node::async_set_data`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 3 requests, as `persistent_node::async_set_data`.
  template <token_for<> Token = default_token>
  auto async_update(service_instance instance, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_update, node_.get_node(), std::move(instance));
  }

  /// Says whether the instance wants work. False: it asks for no more work, and stays registered (draining).
  ///
  /// Signature: `void(error_code)`.
  /// Errors: as `persistent_node::async_set_data`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 3 requests, as `persistent_node::async_set_data`.
  template <token_for<> Token = default_token>
  auto async_set_enabled(bool enabled, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_set_enabled, node_.get_node(), enabled);
  }

  /// Removes the node of the instance, as `persistent_node::async_close`.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: as `persistent_node::async_close`; a static instance has a persistent node.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 3 requests.
  template <token_for<> Token = default_token>
  auto async_unregister(Token&& token = Token()) {
    return node_.async_close(std::forward<Token>(token));
  }

  /// Whether the registration stands, as far as we know, and why not: see `persistent_node_status`.
  persistent_node_status status() const { return node_.status(); }
  /// Completes with the present status when it has changed more often than `seen`.
  ///
  /// Signature: `void(error_code, persistent_node_status)`.
  /// Errors: `closed` (there will be no other change).
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: none.
  template <token_for<persistent_node_status> Token = default_token>
  auto async_status_change(std::uint64_t seen, Token&& token = Token()) {
    return node_.async_status_change(seen, std::forward<Token>(token));
  }

  const std::string& path() const noexcept { return node_.path(); }
  session get_session() const noexcept { return node_.get_session(); }
  executor_type get_executor() const noexcept { return node_.get_executor(); }

  service_registration() noexcept = default;  ///< None, like one moved from: operations complete with `closed`.
  explicit service_registration(persistent_node node) noexcept : node_(std::move(node)) {}

 private:
  using node_ptr = std::shared_ptr<detail::kept_node>;
  static void start_update(detail::handler_for<void(error_code)>, node_ptr, service_instance);
  static void start_set_enabled(detail::handler_for<void(error_code)>, node_ptr, bool);

  persistent_node node_;
};

/// A node of the service that is not an instance, or must not be read.
struct broken_instance {
  std::string node;
  error_code error;  ///< `foreign_data` or `no_auth`.

  friend bool operator==(const broken_instance&, const broken_instance&) = default;
};

/// The instances of a service, as read at one moment.
struct service_snapshot {
  std::vector<service_instance> instances;  ///< In order of their nodes' names, disabled instances included.
  std::vector<broken_instance> broken;
  children_snapshot nodes;  ///< The nodes that this was read from.
};

/// How `now` differs from what was seen before. The lists may be empty if only `now.broken` is different.
struct service_change {
  service_snapshot now;
  std::vector<service_instance> added;
  std::vector<service_instance> changed;
  std::vector<service_instance> removed;  ///< As they were last seen.
};

/// The instances of one service, kept up to date by the rules of a `children_view`. Move-only; the destructor ends the
/// view. Thread safety: safe.
class service_view {
 public:
  using executor_type = boost::asio::any_io_executor;

  /// Completes with the present view as soon as there is one.
  ///
  /// Signature: `void(error_code, service_snapshot)`.
  /// Errors: as `children_view::async_current`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: none: the view reads by itself.
  template <token_for<service_snapshot> Token = default_token>
  auto async_current(Token&& token = Token()) {
    return detail::initiate<void(error_code, service_snapshot)>(token, &start_current, nodes_.get_reader());
  }

  /// Completes with the difference when the view differs from `seen`: at once, or as soon as it does. `seen`: a
  /// snapshot of this view, or `{}`.
  ///
  /// Signature: `void(error_code, service_change)`.
  /// Errors: as `children_view::async_current`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: none: the view reads by itself.
  template <token_for<service_change> Token = default_token>
  auto async_change(service_snapshot seen, Token&& token = Token()) {
    return detail::initiate<void(error_code, service_change)>(token, &start_change, nodes_.get_reader(),
                                                              std::move(seen.nodes));
  }

  const std::string& path() const noexcept { return nodes_.path(); }
  const session& get_session() const noexcept { return nodes_.get_session(); }
  executor_type get_executor() const noexcept { return nodes_.get_executor(); }

  service_view() noexcept =
      default;  ///< Shows nothing, like one that was moved from: operations complete with `closed`.
  explicit service_view(children_view nodes) noexcept : nodes_(std::move(nodes)) {}

 private:
  using reader_ptr = std::shared_ptr<detail::children_reader>;
  static void start_current(detail::handler_for<void(error_code, service_snapshot)>, reader_ptr);
  static void start_change(detail::handler_for<void(error_code, service_change)>, reader_ptr, children_snapshot);

  children_view nodes_;
};

/// All services below one base path: `<base>/<service>/<id>`, with JSON as `to_json` writes it.
///
/// A static instance has no session that owns it. If one with the same id, address and ports stands already when an
/// instance is registered, it is taken for ours, left behind by a process that crashed: it is described anew, and
/// removed when it is unregistered. With another address or port, or if the node is no instance at all, registering
/// fails with `foreign_data` and the node stays as it is.
///
/// A dynamic instance stands until its session ends, so that of a process that was killed is still there when the
/// process starts again. Registering one with the same id, address and ports waits for that, for two session timeouts
/// at most.
///
/// Thread safety: safe.
class service_discovery {
 public:
  using executor_type = boost::asio::any_io_executor;

  service_discovery() =
      default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path.
  service_discovery(session over, std::string base);

  /// Registers an instance, at most 1 000 000 bytes as JSON. A static instance that was left behind by a crash is taken
  /// over, as the class says.
  ///
  /// Signature: `void(error_code, service_registration)`.
  /// Errors: `bad_arguments` (an empty name, a name or an id that can not be a node's name, such as one with a slash, a
  /// text that is not UTF-8, a `payload` or `uri_spec` that is not JSON, a type that we do not register), `too_large`
  /// (nothing was sent), `busy` (another session has this id, with another address or for too long, as the class says),
  /// `foreign_data` (a static instance or another node has it), `no_auth`, and those of `session`.
  /// Cancellation: all types. After any error no node of ours stays behind: it is removed in the background.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 2 requests; 3 round trips if the node of the service has to be made.
  template <token_for<service_registration> Token = default_token>
  auto async_register(service_instance instance, Token&& token = Token()) {
    return detail::initiate<void(error_code, service_registration)>(token, &start_register, session_.get_core(), base_,
                                                                    std::move(instance));
  }

  /// Lists the names of all services that were ever registered here, in no order; none if the base path is missing.
  ///
  /// Signature: `void(error_code, std::vector<std::string>)`.
  /// Errors: `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request.
  template <token_for<std::vector<std::string>> Token = default_token>
  auto async_services(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<std::string>)>(token, &start_services, session_.get_core(),
                                                                        base_);
  }

  /// Begins to watch a service. \throws std::invalid_argument naming the bad service.
  service_view watch(const std::string& service) const;

  const std::string& path() const noexcept { return base_; }  ///< The base path.
  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  static void start_register(detail::handler_for<void(error_code, service_registration)>, core_ptr, std::string,
                             service_instance);
  static void start_services(detail::handler_for<void(error_code, std::vector<std::string>)>, core_ptr, std::string);

  session session_;
  std::string base_;
};

}  // namespace zkrecipes
