#include "scenario/line_rules.hpp"

#include <algorithm>

namespace zkrecipes::simulation {

std::vector<shared_line::member> shared_line::members() const {
  std::vector<member> found;
  const auto& nodes = in_.servers().committed_state();
  const node* line = nodes.find(parent_);
  if (!line) return found;
  const std::vector<std::string> names(line->children.begin(), line->children.end());
  for (const auto& each : detail::members_of(names, markers_)) {
    found.push_back({each.name, nodes.find(parent_ + '/' + each.name)});
  }
  return found;
}

void shared_line::committed(const entry& what) {
  for (const auto& each : what.changes) {
    if (each.type != change::kind::create || parent_path(each.path) != parent_) continue;
    const auto number = detail::parse_sequence(each.path.substr(parent_.size() + 1), markers_);
    if (number) last_[each.owner] = *number;
  }
}

void shared_line::granted(int client, const std::string& path) const {
  const auto name = path.substr(parent_.size() + 1);
  auto all = members();
  auto own = std::ranges::find(all, name, &member::name);
  if (own == all.end()) return;  // removed meanwhile, for example with its session
  all.erase(own + 1, all.end());
  std::erase_if(all, [&](const member& m) { return m.name != name && guid_of(m.name) == guid_of(name); });
  in_.require(may_hold_(all), "holders get on with each other", "client " + std::to_string(client) + ", " + path);
}

void shared_line::received(const connection& from, const backend::request& what) const {
  if (!what.watch || !what.path.starts_with(parent_ + '/')) return;
  const auto watched = detail::parse_sequence(what.path.substr(parent_.size() + 1), markers_);
  if (!watched) return;
  const auto own = last_.find(from.key.id);
  if (own == last_.end()) return;
  in_.require(!detail::before(own->second, *watched), "nobody waits for one behind it", what.path);
}

void shared_line::check_quiet(const tree& nodes) const {
  const node* line = nodes.find(parent_);
  if (line && !line->children.empty()) in_.fail("no node left", parent_ + '/' + *line->children.begin());
}

std::string_view guid_of(std::string_view name) { return name.substr(3, 36); }

namespace {
std::string sequence_of(const std::string& path) { return path.substr(path.size() - 10); }
}  // namespace

void line_rules::granted(int client, std::int64_t session, const std::string& path, std::int64_t token, bool believes) {
  const auto& nodes = in_.servers().committed_state();
  const auto who = "client " + std::to_string(client) + ", " + path;
  in_.require(tokens_.insert(token).second, "a token is granted once", who);
  if (believes && in_.what().lease == lease_mode::strict && in_.what().leases_are_kept()) {
    in_.require(token > last_token_, "tokens increase", who);
  }
  last_token_ = std::max(last_token_, token);
  grants_[path] = {client, token};
  const node* own = nodes.find(path);
  const node* line = nodes.find(parent_);
  if (!own || !line) return removed(path);
  if (believes) in_.require(own->stat.ephemeral_owner == session, "an owner's node is of its own session", who);
  in_.require(own->stat.czxid == token, "the token is the node's czxid", who);
  for (const auto& name : line->children) {
    const node* other = nodes.find(parent_ + '/' + name);
    const bool ghost = guid_of(name) == guid_of(path.substr(parent_.size() + 1));
    const bool passed = other->stat.czxid < token && !ghost;
    in_.require(!passed, "order of arrival", who + " passed " + name);
  }
}

void line_rules::committed(const entry& what) {
  for (const auto& each : what.changes) {
    if (!each.path.starts_with(parent_ + '/')) continue;
    if (each.type == change::kind::create) arrived(each);
    if (each.type == change::kind::remove) departed(each.path);
  }
}

void line_rules::arrived(const change& what) {
  if (!members_.empty()) behind_[members_.rbegin()->second.path].insert(what.owner);
  behind_[what.path].insert(what.owner);  // its session watches its own node, too
  members_[sequence_of(what.path)] = {what.path, what.owner};
}

void line_rules::departed(const std::string& path) {
  const auto gone = members_.find(sequence_of(path));
  const auto next = std::next(gone);
  if (gone != members_.begin() && next != members_.end()) {
    behind_[std::prev(gone)->second.path].insert(next->second.session);
  }
  members_.erase(gone);
  if (grants_.contains(path)) removed(path);
}

/// An owner must learn that its node has gone, whoever removed it.
void line_rules::removed(const std::string& path) {
  in_.clock().after(in_.what().longest_ignorance(), [this, path, of = grants_[path]] {
    in_.require(!in_.is_believed(of.client, of.token), "an owner hears that its node has gone", path);
  });
}

void line_rules::watch_fired(const connection& to, const backend::watch_event& event) {
  if (event.what != backend::change::deleted || !event.path.starts_with(parent_ + '/')) return;
  in_.require(behind_[event.path].contains(to.key.id), "no herd is woken", event.path);
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
