#include "scenario/shared_line.hpp"

#include <algorithm>

#include "scenario/line_rules.hpp"

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

}  // namespace zkrecipes::simulation
