// Where a service can be had: registering instances, watching them, choosing one. Shared with Curator's x-discovery.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/children_view.hpp>
#include <zkrecipes/persistent_node.hpp>
#include <zkrecipes/service_instance.hpp>

namespace zkrecipes {

/// A registration that stands; across sessions, like a `persistent_node`. A connection that breaks and comes back within
/// the session writes nothing: nobody sees the service flap.
///
/// Move-only; the destructor unregisters in the background. Thread safety: safe.
class service_registration {
 public:
  /// Replaces the description; `name` and `id` have to stay.
  /// Errors: `bad_arguments`, and as `persistent_node::async_set_data`.
  template <class Token>
  auto async_update(service_instance instance, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_update, node_.get_node(), std::move(instance));
  }

  /// False: asks for no more work, and stays registered (draining).
  template <class Token>
  auto async_set_enabled(bool enabled, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_set_enabled, node_.get_node(), enabled);
  }

  /// As `persistent_node::async_close`.
  template <class Token>
  auto async_unregister(Token&& token) {
    return node_.async_close(std::forward<Token>(token));
  }

  /// Whether it stands, as far as we know, and why not: see `persistent_node_status`.
  persistent_node_status status() const { return node_.status(); }
  template <class Token>
  auto async_status_change(std::uint64_t seen, Token&& token) {
    return node_.async_status_change(seen, std::forward<Token>(token));
  }

  const std::string& path() const noexcept { return node_.path(); }

  service_registration() noexcept = default;  ///< None, as one that was moved from: operations complete with `closed`.
  explicit service_registration(persistent_node node) noexcept : node_(std::move(node)) {}

 private:
  using node_ptr = std::shared_ptr<detail::kept_node>;
  static void start_update(detail::handler_for<void(error_code)>, node_ptr, service_instance);
  static void start_set_enabled(detail::handler_for<void(error_code)>, node_ptr, bool);

  persistent_node node_;
};

/// A node under the service that is no instance, or must not be read.
struct broken_instance {
  std::string node;
  error_code error;  ///< `foreign_data` or `no_auth`.

  friend bool operator==(const broken_instance&, const broken_instance&) = default;
};

struct service_snapshot {
  std::vector<service_instance> instances;  ///< In order of their nodes' names; those that are not enabled, too.
  std::vector<broken_instance> broken;
  children_snapshot nodes;  ///< What it was read from.
};

/// How `now` differs from what was seen before. May be empty where only `now.broken` is different.
struct service_change {
  service_snapshot now;
  std::vector<service_instance> added;
  std::vector<service_instance> changed;
  std::vector<service_instance> removed;  ///< As they were.
};

/// The instances of one service, kept up to date; see `children_view`, whose rules hold.
/// Move-only; the destructor ends it. Thread safety: safe.
class service_view {
 public:
  template <class Token>
  auto async_current(Token&& token) {
    return detail::initiate<void(error_code, service_snapshot)>(token, &start_current, nodes_.get_reader());
  }

  /// `seen`: a snapshot of this view, or `{}`.
  template <class Token>
  auto async_change(service_snapshot seen, Token&& token) {
    return detail::initiate<void(error_code, service_change)>(token, &start_change, nodes_.get_reader(),
                                                              std::move(seen.nodes));
  }

  explicit service_view(children_view nodes) noexcept : nodes_(std::move(nodes)) {}

 private:
  using reader_ptr = std::shared_ptr<detail::children_reader>;
  static void start_current(detail::handler_for<void(error_code, service_snapshot)>, reader_ptr);
  static void start_change(detail::handler_for<void(error_code, service_change)>, reader_ptr, children_snapshot);

  children_view nodes_;
};

/// All services below one base path: `<base>/<service>/<id>`, JSON as in `to_json`. Thread safety: safe.
class service_discovery {
 public:
  /// \throws std::invalid_argument naming the bad path.
  service_discovery(session over, std::string base);

  /// Registers an instance: one round trip if the service's node exists.
  /// Errors: `bad_arguments` (empty name, a slash, texts that are not UTF-8, payload or uri_spec that are not JSON,
  /// a type that we do not register), `busy` (another session has this id), `foreign_data` (a static instance has it),
  /// `no_auth`, and those of `session`. Cancellation: all types. After an error no node of ours stays behind.
  ///
  /// A static instance has no session that owns it. One with the same id, address and ports is taken for ours, left behind
  /// by a process that crashed: it is described anew, and removed when it is unregistered. With another address or port,
  /// or if it is no instance at all, it is `foreign_data` and stays as it is.
  template <class Token>
  auto async_register(service_instance instance, Token&& token) {
    return detail::initiate<void(error_code, service_registration)>(token, &start_register, session_.get_core(), base_,
                                                                    std::move(instance));
  }

  /// Names of all services that were ever registered here. Errors: `no_auth`; a base path that is missing has none.
  template <class Token>
  auto async_services(Token&& token) {
    return detail::initiate<void(error_code, std::vector<std::string>)>(token, &start_services, session_.get_core(),
                                                                        base_);
  }

  /// Begins to watch a service. \throws std::invalid_argument naming the bad service.
  service_view watch(const std::string& service) const;

  const std::string& base() const noexcept { return base_; }
  const session& get_session() const noexcept { return session_; }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  static void start_register(detail::handler_for<void(error_code, service_registration)>, core_ptr, std::string,
                             service_instance);
  static void start_services(detail::handler_for<void(error_code, std::vector<std::string>)>, core_ptr, std::string);

  session session_;
  std::string base_;
};

}  // namespace zkrecipes
