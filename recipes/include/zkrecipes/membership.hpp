// A group: who joins is seen by the others for as long as it lives.
#pragma once

#include <string>

#include <zkrecipes/children_view.hpp>
#include <zkrecipes/persistent_node.hpp>

namespace zkrecipes {

/// A membership that was joined. It survives the session: after an expiry it joins again by itself, with its last data.
/// A connection that breaks and comes back within the session changes nothing that the others see.
///
/// Move-only; the destructor leaves in the background. Thread safety: safe.
class joined_member {
 public:
  /// As `persistent_node::async_set_data`.
  template <class Token>
  auto async_update(std::string data, Token&& token) {
    return node_.async_set_data(std::move(data), std::forward<Token>(token));
  }

  /// Leaves; completes when the others can see it. As `persistent_node::async_close`.
  template <class Token>
  auto async_leave(Token&& token) {
    return node_.async_close(std::forward<Token>(token));
  }

  /// Whether the others see us, as far as we know, and why not: see `persistent_node_status`.
  persistent_node_status status() const { return node_.status(); }
  template <class Token>
  auto async_status_change(std::uint64_t seen, Token&& token) {
    return node_.async_status_change(seen, std::forward<Token>(token));
  }

  const std::string& path() const noexcept { return node_.path(); }

  joined_member() noexcept = default;  ///< No member, as one that was moved from: operations complete with `closed`.
  explicit joined_member(persistent_node node) noexcept : node_(std::move(node)) {}

 private:
  persistent_node node_;
};

struct membership_options {
  /// What to do when another session has the name: wait until it is free (a crashed process leaves it with its session),
  /// or fail with `busy`.
  bool wait_for_name = false;
};

/// The group at one path. Members are the ephemeral children of it, by whatever client; other nodes are ignored.
/// Thread safety: safe.
class membership {
 public:
  /// \throws std::invalid_argument naming the bad path.
  membership(session over, std::string path, membership_options options);
  membership(session over, std::string path) : membership(std::move(over), std::move(path), membership_options()) {}

  /// Joins under a name of one's own: one round trip. The path is created if it is missing.
  /// Errors: `bad_arguments` (an empty name, one with a slash or control characters, data over 1 000 000 bytes), `busy`
  /// (see `membership_options`), `foreign_data` (a node that is no member has the name), `no_auth`, and those of
  /// `session`. Cancellation: all types. After an error no node of ours stays behind.
  template <class Token>
  auto async_join(std::string name, std::string data, Token&& token) {
    return detail::initiate<void(error_code, joined_member)>(token, &start_join, session_.get_core(), path_, options_,
                                                            std::move(name), std::move(data));
  }

  /// Begins to watch the group: who is in it, who joined, changed and left.
  children_view watch() const;

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }

 private:
  static void start_join(detail::handler_for<void(error_code, joined_member)>, std::shared_ptr<detail::core>,
                         std::string, membership_options, std::string, std::string);

  session session_;
  std::string path_;
  membership_options options_;
};

}  // namespace zkrecipes
