// Writes a node conditionally, and finds out whether the write was executed.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Turns at a node for all of a session who write to it in tries, one at a time: writes of one session to one node
/// never conflict with each other. Owned by those who write. On the strand.
class path_turns {
 public:
  static std::shared_ptr<path_turns> of(const core_ptr& session, const std::string& path) {
    return session->commons().join<path_turns>(path, [&] { return std::make_shared<path_turns>(session, path); });
  }

  path_turns(core_ptr session, std::string path) : session_(std::move(session)), path_(std::move(path)) {}
  path_turns(const path_turns&) = delete;
  path_turns& operator=(const path_turns&) = delete;
  ~path_turns() { session_->commons().end<path_turns>(path_); }

  /// As `turnstile::enter`. The pass must not outlive this.
  awaitable<turnstile::pass> enter() { return turns_.enter(session_->get_scheduler()); }

 private:
  core_ptr session_;
  std::string path_;
  turnstile turns_{1};
};

/// Whether the reply was lost and the request may have been executed, or may yet be. Once a later request has been
/// answered it can no longer be executed, because an earlier request is executed earlier or never.
bool may_be_done(const backend::reply& result);

/// Replaces the data if the node still has the version that was seen. Surely not done: `bad_version`, `no_node`,
/// `no_auth`, `bad_arguments`. Surely done: no error, or `node_removed` (the write went into a node that was made again
/// meanwhile). Not known: `outcome_unknown`, `operation_aborted` and the errors that end the session.
awaitable<outcome<node_stat>> replace(core_ptr session, std::string path, node_stat seen, std::string data);

/// Makes the node, with its parents, if it is missing. Errors: `node_exists` (surely not made by us), and as above.
/// After any lost reply: `outcome_unknown`.
awaitable<outcome<node_stat>> make(core_ptr session, std::string path, std::string data);

/// Reads the node behind a catch-up, so that it is no older than the call. Error if the node is missing: `no_node`.
awaitable<backend::reply> read_latest(core_ptr session, std::string path);

}  // namespace zkrecipes::detail
