// A group: its members see each other for as long as they live.
#pragma once

#include <string>
#include <utility>

#include <zkrecipes/children_view.hpp>
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

/// Settings of a `membership`.
struct membership_options {
  /// If another session has the name: true waits until the name is free (a crashed process keeps its name until its
  /// session ends), false fails with `busy`.
  bool wait_for_name = false;
};

/// The group at one path. Its members are the ephemeral children of the path, whichever client made them; other nodes
/// are ignored. Thread safety: safe.
class membership {
 public:
  using executor_type = boost::asio::any_io_executor;

  membership() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path.
  membership(session over, std::string path, membership_options options);
  membership(session over, std::string path) : membership(std::move(over), std::move(path), membership_options()) {}

  /// Joins under a name of its own, with at most 1 000 000 bytes of data. Creates the path if it is missing.
  ///
  /// Signature: `void(error_code, joined_member)`.
  /// Errors: `bad_arguments` (a name that is empty, "." or "..", or has a slash or control characters),
  /// `too_large` (nothing was sent), `busy` (see `membership_options`), `foreign_data` (a node that is no member has
  /// the name), `no_auth`, and those of `session`.
  /// Cancellation: all types. After any error no node of ours stays behind: it is removed in the background.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 2 requests; 3 round trips if the path has to be made.
  template <token_for<joined_member> Token = default_token>
  auto async_join(std::string name, std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code, joined_member)>(token, &start_join, session_.get_core(), path_, options_,
                                                             std::move(name), std::move(data));
  }

  /// Begins to watch the group: its members, and those that joined, changed and left.
  children_view watch() const;

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }
  const membership_options& options() const noexcept { return options_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  static void start_join(detail::handler_for<void(error_code, joined_member)>, std::shared_ptr<detail::core>,
                         std::string, membership_options, std::string, std::string);

  session session_;
  std::string path_;
  membership_options options_;
};

}  // namespace zkrecipes
