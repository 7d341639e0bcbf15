// The nodes of one server, and how a change alters them. It uses no clock, no network and no chance.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/node.hpp>

namespace zkrecipes::simulation {

/// The owner of a container node, as the server keeps it; clients are not told.
inline constexpr auto container_owner = std::numeric_limits<std::int64_t>::min();

struct node {
  std::string data;
  acl access;
  /// The server's own record: `cversion` counts only the creations of children, and is the sequence number of the
  /// next sequential child.
  node_stat stat;
  std::set<std::string> children;

  /// The record as clients see it: `cversion` counts creations and deletions of children.
  node_stat visible() const;
};

/// One effect of a transaction, with all values decided (path, version, owner): every server applies it in the same
/// way.
struct change {
  enum class kind { create, remove, set, set_acl };
  kind type = kind::set;
  std::string path;
  std::string data;
  acl access;
  std::int32_t version = 0;  ///< The new version of the data or of the ACL.
  std::int64_t owner = 0;    ///< The owner of a node to create.
};

class tree {
 public:
  tree();

  const node* find(std::string_view path) const;
  void apply(const change& what, std::int64_t zxid, std::int64_t time_ms);
  std::vector<std::string> ephemerals(std::int64_t session) const;
  /// Containers that have had children but have none left.
  std::vector<std::string> abandoned_containers() const;
  using map = std::map<std::string, node, std::less<>>;
  const map& nodes() const noexcept { return nodes_; }

  /// A node before a change, to undo the change if the transaction fails half-way. Children are not kept: no change
  /// alters the children of its own node, and a node that is removed has none.
  struct former {
    std::string path;
    bool existed = false;
    std::string data;
    acl access;
    node_stat stat;
    node_stat stat_of_parent;
  };
  former keep(const std::string& path) const;
  /// To be called for the latest change first.
  void restore(former kept);

 private:
  node& at(std::string_view path) { return nodes_.find(path)->second; }

  map nodes_;
};

/// A view into `path`.
std::string_view parent_path(std::string_view path);
/// The part of `path` behind the last slash, a view into `path`.
std::string_view last_name(std::string_view path);

}  // namespace zkrecipes::simulation
