// A member of a group that has joined.
#pragma once

#include <string>
#include <utility>

#include <zkrecipes/persistent_node.hpp>

namespace zkrecipes {

/// A member that has joined. It survives the session: after an expiry it joins again by itself, with its last data. A
/// connection that breaks and comes back within the session changes nothing that the others see.
///
/// Move-only; the destructor leaves in the background. Thread safety: safe.
class joined_member {
 public:
  using executor_type = boost::asio::any_io_executor;

  /// Replaces the data of the member, at most 1 000 000 bytes: as `persistent_node::async_set_data`.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: as `persistent_node::async_set_data`.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 3 requests.
  template <token_for<> Token = default_token>
  auto async_update(std::string data, Token&& token = Token()) {
    return node_.async_set_data(std::move(data), std::forward<Token>(token));
  }

  /// Leaves: removes the node of the member, as `persistent_node::async_close`. Completes when the others can see it.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: as `persistent_node::async_close` of an ephemeral node.
  /// Cancellation: all types; it ends only the wait.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 3 requests.
  template <token_for<> Token = default_token>
  auto async_leave(Token&& token = Token()) {
    return node_.async_close(std::forward<Token>(token));
  }

  /// Whether the others see us, as far as we know, and why not: see `persistent_node_status`.
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

  joined_member() noexcept = default;  ///< No member, like one that was moved from: operations complete with `closed`.
  explicit joined_member(persistent_node node) noexcept : node_(std::move(node)) {}

 private:
  persistent_node node_;
};

}  // namespace zkrecipes
