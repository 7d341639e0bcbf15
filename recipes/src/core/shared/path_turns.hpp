// Turns at a node for all of a session who write to it in tries.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "session/core.hpp"
#include "session/turnstile.hpp"

namespace zkrecipes::detail {

/// One at a time: writes of one session to one node never conflict with each other. Owned by those who write. On the
/// strand.
class path_turns {
 public:
  static std::shared_ptr<path_turns> of(const core_ptr& session, const std::string& path) {
    auto& known = session->commons().at<path_turns>(path);
    auto turns = known.lock();
    if (!turns) known = turns = std::make_shared<path_turns>(session, path);
    return turns;
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

}  // namespace zkrecipes::detail
