#include "model/tree.hpp"

#include <utility>

namespace zkrecipes::simulation {

node_stat node::visible() const {
  auto seen = stat;
  seen.num_children = static_cast<std::int32_t>(children.size());
  seen.cversion = stat.cversion * 2 - seen.num_children;
  if (stat.ephemeral_owner == container_owner) seen.ephemeral_owner = 0;
  seen.data_length = static_cast<std::int32_t>(data.size());
  return seen;
}

std::string_view parent_path(std::string_view path) {
  const auto slash = path.rfind('/');
  return path.substr(0, slash == 0 ? 1 : slash);
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

tree::tree() {
  // The nodes of a new ensemble.
  nodes_["/"].children = {"zookeeper"};
  nodes_["/zookeeper"].children = {"config", "quota"};
  for (const char* path : {"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"})
    nodes_[path].access = open_acl();
}

const node* tree::find(std::string_view path) const {
  auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}

void tree::apply(const change& what, std::int64_t zxid, std::int64_t time_ms) {
  if (what.type == change::kind::create) {
    auto& parent = at(parent_path(what.path));
    parent.children.emplace(last_name(what.path));
    ++parent.stat.cversion;
    parent.stat.pzxid = zxid;
    auto& made = nodes_[what.path];
    made.data = what.data;
    made.access = what.access;
    made.stat = {
        .czxid = zxid, .mzxid = zxid, .pzxid = zxid, .ctime = time_ms, .mtime = time_ms, .ephemeral_owner = what.owner};
  } else if (what.type == change::kind::remove) {
    auto& parent = at(parent_path(what.path));
    parent.children.erase(std::string(last_name(what.path)));
    parent.stat.pzxid = zxid;
    nodes_.erase(what.path);
  } else if (what.type == change::kind::set) {
    auto& changed = at(what.path);
    changed.data = what.data;
    changed.stat.version = what.version;
    changed.stat.mzxid = zxid;
    changed.stat.mtime = time_ms;
  } else {
    auto& changed = at(what.path);
    changed.access = what.access;
    changed.stat.aversion = what.version;
  }
}

std::vector<std::string> tree::ephemerals(std::int64_t session) const {
  std::vector<std::string> paths;
  for (const auto& [path, each] : nodes_) {
    if (each.stat.ephemeral_owner == session) paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> tree::abandoned_containers() const {
  std::vector<std::string> paths;
  for (const auto& [path, each] : nodes_) {
    if (each.stat.ephemeral_owner == container_owner && each.children.empty() && each.stat.cversion > 0)
      paths.push_back(path);
  }
  return paths;
}

tree::former tree::keep(const std::string& path) const {
  former kept;
  kept.path = path;
  if (const auto* present = find(path)) {
    kept.existed = true;
    kept.data = present->data;
    kept.access = present->access;
    kept.stat = present->stat;
  }
  kept.stat_of_parent = find(parent_path(path))->stat;
  return kept;
}

void tree::restore(former kept) {
  auto& parent = at(parent_path(kept.path));
  if (kept.existed) {
    const auto [found, was_gone] = nodes_.try_emplace(kept.path);
    if (was_gone) parent.children.emplace(last_name(kept.path));
    auto& again = found->second;
    again.data = std::move(kept.data);
    again.access = std::move(kept.access);
    again.stat = kept.stat;
  } else {
    parent.children.erase(std::string(last_name(kept.path)));
    nodes_.erase(kept.path);
  }
  parent.stat = kept.stat_of_parent;
}

}  // namespace zkrecipes::simulation
