// The root path of a session: put in front of each path that is sent, and taken from those that come back.
#include <utility>

#include <zkrecipes/node.hpp>

#include "session/core.hpp"

namespace zkrecipes::detail {

using backend::opcode;

void core::create_root() {
  if (!options_.create_root || root_.empty()) return;
  for (std::size_t end = 1; end != root_.npos;) {
    end = root_.find('/', end + 1);
    auto create = make_request(opcode::create, root_.substr(0, end));
    create.access = open_acl();
    link_->submit(std::move(create), [this](const backend::reply& answer) {
      has_lost_writes_ = has_lost_writes_ || is_reply_lost(answer.error);
    });
  }
}

/// Looks whether the root exists and lets us read it, because otherwise every operation fails for no visible reason.
/// Only the log tells it, so without a log nothing is sent. Else it is one read for each new ZooKeeper session, sent
/// together with the first request. The ACL is read, because it needs the right to read as the data does, and is small.
void core::look_at_root(bool is_new) {
  if (!is_new || !log_.is_on() || root_.empty()) return;
  link_->submit(make_request(opcode::get_acl, root_),
                [this](const backend::reply& answer) { log_.root_seen(root_, answer.error); });
}

void core::apply_root(backend::request& what) const {
  const acl standard = options_.default_acl.empty() ? open_acl() : options_.default_acl;
  if (what.op == opcode::create && what.access.empty()) what.access = standard;
  for (auto& each : what.operations) {
    if (each.acl.empty()) each.acl = standard;
    each.path = full_path(std::move(each.path));
  }
  if (root_.empty() || what.op == opcode::multi || what.op == opcode::sync) return;
  if (what.op == opcode::authenticate) return;
  what.path = full_path(std::move(what.path));
}

std::string core::full_path(std::string path) const {
  if (root_.empty()) return path;
  return path == "/" ? root_ : root_ + path;
}

std::string core::below_root(std::string path) const {
  if (root_.empty() || path.compare(0, root_.size(), root_) != 0) return path;
  return path.size() == root_.size() ? "/" : path.substr(root_.size());
}

void core::strip_root(backend::reply& answer) const {
  answer.path = below_root(std::move(answer.path));
  for (auto& each : answer.results) each.path = below_root(std::move(each.path));
}

}  // namespace zkrecipes::detail
