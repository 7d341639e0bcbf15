// Registers instances of services and watches them. Shared with Curator's x-discovery.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/children_view.hpp>
#include <zkrecipes/persistent_node.hpp>
#include <zkrecipes/service_instance.hpp>
#include <zkrecipes/service_registration.hpp>
#include <zkrecipes/service_snapshot.hpp>
#include <zkrecipes/service_view.hpp>

namespace zkrecipes {

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
