// A registered instance of a service.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

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

}  // namespace zkrecipes
