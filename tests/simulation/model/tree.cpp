#include "model/tree.hpp"

#include <utility>

namespace zkrecipes::simulation {

zkrecipes::stat node::visible() const {
  auto seen = stat;
  seen.num_children = static_cast<std::int32_t>(children.size());
  seen.cversion = stat.cversion * 2 - seen.num_children;
  if (stat.ephemeral_owner == container_owner) seen.ephemeral_owner = 0;
  seen.data_length = static_cast<std::int32_t>(data.size());
  return seen;
}

std::string parent_path(const std::string& path) {
  auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

tree::tree() {
  // What a new ensemble has.
  nodes_["/"].children = {"zookeeper"};
  nodes_["/zookeeper"].children = {"config", "quota"};
  for (const char* path : {"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"})
    nodes_[path].access = open_acl();
}

const node* tree::find(const std::string& path) const {
  auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}

void tree::apply(const change& what, std::int64_t zxid, std::int64_t time_ms) {
  if (what.type == change::kind::create) {
    auto& parent = nodes_[parent_path(what.path)];
    parent.children.insert(what.path.substr(what.path.rfind('/') + 1));
    ++parent.stat.cversion;
    parent.stat.pzxid = zxid;
    auto& made = nodes_[what.path];
    made.data = what.data;
    made.access = what.access;
    made.stat = {.czxid = zxid,
                 .mzxid = zxid,
                 .pzxid = zxid,
                 .ctime = time_ms,
                 .mtime = time_ms,
                 .ephemeral_owner = what.owner};
  } else if (what.type == change::kind::remove) {
    auto& parent = nodes_[parent_path(what.path)];
    parent.children.erase(what.path.substr(what.path.rfind('/') + 1));
    parent.stat.pzxid = zxid;
    nodes_.erase(what.path);
  } else if (what.type == change::kind::set) {
    auto& changed = nodes_[what.path];
    changed.data = what.data;
    changed.stat.version = what.version;
    changed.stat.mzxid = zxid;
    changed.stat.mtime = time_ms;
  } else {
    auto& changed = nodes_[what.path];
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

std::optional<node> tree::keep(const std::string& path) const {
  const auto* found = find(path);
  return found ? std::optional(*found) : std::nullopt;
}

void tree::restore(const std::string& path, std::optional<node> kept) {
  if (kept) {
    nodes_[path] = std::move(*kept);
  } else {
    nodes_.erase(path);
  }
}

}  // namespace zkrecipes::simulation
