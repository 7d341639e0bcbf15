// A node that is kept alive: made again when the session, or somebody else, took it away.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class kept_node;
}

struct persistent_node_options {
  /// `ephemeral` or `persistent`.
  create_mode mode = create_mode::ephemeral;
  /// Of the node; empty: the session's default.
  acl access{};
  /// What to do when somebody deletes it: make it again, or give up with `node_removed`.
  bool restore = true;
  /// Pause after a try that failed; doubles up to `max_pause`, +-50 % at random. 1 ms to 1 h.
  std::chrono::milliseconds first_pause{100};
  std::chrono::milliseconds max_pause{10'000};
};

struct persistent_node_status {
  /// It stands and is ours, as far as we know. Stays true while the connection is broken: the session may live on.
  bool present = false;
  /// Why it does not stand, or does not hold our data. It is tried again, except after `node_removed` (without `restore`)
  /// and where `is_fatal`. `busy`: another session's ephemeral node is in the way, `foreign_data`: a persistent one is;
  /// we take over when it goes.
  error_code error;
  std::int64_t czxid = 0;     ///< Of the node, while it is present.
  std::uint64_t created = 0;  ///< How often it was made, the first time included.
  std::uint64_t changes = 0;  ///< Number of changes of this status so far.
};

/// A node that stands for as long as the object lives, across incarnations of the session.
///
/// A connection that breaks and comes back within the session costs one read and no write: the node is never removed and
/// made again for that. Whether a create or a write whose reply was lost has happened is settled by looking: an ephemeral
/// node is ours if it belongs to our session.
///
/// A persistent node (`create_mode::persistent`) has no owner. One that is there already, by whomever, is taken over: it
/// gets our data, and is removed at the end. Let only one object keep a path at a time. It outlives a process that crashes.
///
/// What others write into the node stays until we set its data or make it again.
///
/// A node of another's that has taken its place is neither written to nor removed: we look whose it is before, and write on
/// condition of the version seen. ZooKeeper has no condition on the owner, so one gap remains: a node that is deleted and made
/// again between that look and the write, a round trip later, and has the same version by then.
///
/// Move-only; the destructor removes the node in the background. For a persistent node that keeps the session open until
/// it has gone, without a connection for at most `session_options::timeout`; after that it stays. The end of a session
/// takes an ephemeral one with it. Thread safety: safe.
class persistent_node {
 public:
  /// Starts to make it, with its parents. Data: at most 1 000 000 bytes.
  /// \throws std::invalid_argument naming the bad path or option.
  persistent_node(session over, std::string path, std::string data, persistent_node_options options);
  persistent_node(session over, std::string path, std::string data)
      : persistent_node(std::move(over), std::move(path), std::move(data), persistent_node_options()) {}
  persistent_node() noexcept;  ///< No node, as one that was moved from: operations complete with `closed`.
  persistent_node(persistent_node&&) noexcept;
  persistent_node& operator=(persistent_node&&) noexcept;
  ~persistent_node();

  /// Completes when the node stands, or with what keeps it from that now (see `persistent_node_status::error`); it is
  /// tried on in the background all the same. One round trip if the parent exists. Cancellation: all types.
  template <class Token>
  auto async_started(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_started, node_);
  }

  /// Replaces the data; completes when the node holds it, or newer data of ours, however often the connection breaks.
  /// If the node does not stand, it will with this data. Errors: `bad_arguments` (too long), `no_auth` and what else
  /// keeps it from being written now (it is tried on), `node_removed`, `closed`. Cancellation: ends only the wait.
  template <class Token>
  auto async_set_data(std::string data, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_set_data, node_, std::move(data));
  }

  persistent_node_status status() const;

  /// Completes when the status has changed more often than `seen`. Error: `closed` if there will be no other.
  template <class Token>
  auto async_status_change(std::uint64_t seen, Token&& token) {
    return detail::initiate<void(error_code, persistent_node_status)>(token, &start_status_change, node_, seen);
  }

  /// Removes the node and completes when the server says that it is gone, or its session is over. Cancellation ends only
  /// the wait. A server that is too busy is asked again. Errors, all of them of a node that may still stand: `no_auth` (an
  /// ephemeral one goes with its session); of a persistent one also `not_empty`, `server_error`, `closed` and `auth_failed`
  /// (the session was over before it could be removed).
  template <class Token>
  auto async_close(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_close, node_);
  }

  const std::string& path() const noexcept;

  /// For the recipes.
  explicit persistent_node(std::shared_ptr<detail::kept_node> node) noexcept;
  const std::shared_ptr<detail::kept_node>& get_node() const noexcept { return node_; }

 private:
  using node_ptr = std::shared_ptr<detail::kept_node>;
  static void start_started(detail::handler_for<void(error_code)>, node_ptr);
  static void start_set_data(detail::handler_for<void(error_code)>, node_ptr, std::string);
  static void start_status_change(detail::handler_for<void(error_code, persistent_node_status)>, node_ptr,
                                  std::uint64_t);
  static void start_close(detail::handler_for<void(error_code)>, node_ptr);

  node_ptr node_;
};

}  // namespace zkrecipes
