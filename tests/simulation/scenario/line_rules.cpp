#include "scenario/line_rules.hpp"

namespace zkrecipes::simulation {

void line_rules::granted(int client, const std::string& path, std::int64_t token, bool believes) {
  const auto& nodes = in_.servers().committed_state();
  const auto who = "client " + std::to_string(client) + ", " + path;
  in_.require(tokens_.insert(token).second, "a token is granted once", who);
  if (believes && in_.what().lease == lease_mode::strict && in_.what().leases_are_kept()) {
    in_.require(token > last_token_, "tokens increase", who);
  }
  last_token_ = std::max(last_token_, token);
  const node* own = nodes.find(path);
  const node* line = nodes.find(parent_);
  if (!own || !line) return;  // gone already: the owner will be told
  in_.require(own->stat.czxid == token, "the token is the node's czxid", who);
  for (const auto& name : line->children) {
    const node* other = nodes.find(parent_ + '/' + name);
    const bool passed = other->stat.czxid < token && other->stat.ephemeral_owner != own->stat.ephemeral_owner;
    in_.require(!passed, "order of arrival", who + " passed " + name);
  }
}

void line_rules::committed(const entry& what) {
  for (const auto& each : what.changes) {
    if (each.type == change::kind::create && each.path.starts_with(parent_ + '/'))
      owners_[each.path] = each.owner;
  }
}

void line_rules::watch_fired(const connection& to, const backend::watch_event& event) {
  if (event.what != backend::change::deleted || !event.path.starts_with(parent_ + '/')) return;
  if (!in_.is_current(to) || to.key.id == owners_[event.path] || node_of(to.key.id).empty()) return;
  auto& woken = woken_[event.path];
  woken.insert(to.key.id);
  // The nearest one behind, and perhaps one that gives up and whose watch a slow server has not forgotten
  // yet.
  in_.require(woken.size() <= 2, "no herd is woken", event.path);
}

void line_rules::check_quiet(const tree& nodes) {
  const node* line = nodes.find(parent_);
  if (line && !line->children.empty()) in_.fail("no node left", parent_ + '/' + *line->children.begin());
}

std::string line_rules::node_of(std::int64_t session) const {
  const auto& nodes = in_.servers().committed_state();
  const node* line = nodes.find(parent_);
  if (!line || session == 0) return {};
  for (const auto& name : line->children) {
    const auto path = parent_ + '/' + name;
    if (nodes.find(path)->stat.ephemeral_owner == session) return path;
  }
  return {};
}

}  // namespace zkrecipes::simulation
