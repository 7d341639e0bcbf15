// Registers instances of services and watches them. Shared with Curator's x-discovery.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/children_view.hpp>
#include <zkrecipes/persistent_node.hpp>
#include <zkrecipes/service_instance.hpp>

namespace zkrecipes {

/// A registration that stands across sessions, like a `persistent_node`. A connection that breaks and comes back within
/// the session writes nothing, so nobody sees the service flap.
///
/// Move-only; the destructor unregisters in the background. Thread safety: safe.
class service_registration {
 public:
  using executor_type = boost::asio::any_io_executor;

  /// Replaces the description, at most 1 000 000 bytes as JSON; `name`, `id` and `type` have to stay.
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
  const session& get_session() const noexcept { return node_.get_session(); }
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
/// Thread safety: safe.
class service_discovery {
 public:
  using executor_type = boost::asio::any_io_executor;

  service_discovery() =
      default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path.
  service_discovery(session over, std::string base);

  /// Registers an instance, at most 1 000 000 bytes as JSON. A static instance that was left behind by a crash is taken
  /// over, as the class says. Without a connection it waits.
  ///
  /// Signature: `void(error_code, service_registration)`.
  /// Errors: `bad_arguments` (an empty name, a name or an id that can not be a node's name, such as one with a slash, a
  /// text that is not UTF-8, a `payload` or `uri_spec` that is not JSON, a type that we do not register), `too_large`
  /// (nothing was sent), `busy` (another session has this id), `foreign_data` (a static instance or another node has
  /// it), `no_auth`, and those of `session`.
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
