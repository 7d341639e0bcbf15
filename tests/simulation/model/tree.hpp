// The nodes of one server, and how a change alters them. Pure.
#pragma once

#include <zkrecipes/node.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zkrecipes::simulation {

/// The owner of a container node, as the server keeps it; clients are not told.
inline constexpr auto container_owner = std::numeric_limits<std::int64_t>::min();

struct node {
  std::string data;
  acl access;
  /// As the server keeps it: `cversion` counts the creations of children only, and names the next sequential
  /// one.
  zkrecipes::stat stat;
  std::set<std::string> children;

  /// As clients see it: creations and deletions of children both count.
  zkrecipes::stat visible() const;
};

/// One effect of a transaction, with everything that had to be decided decided.
struct change {
  enum class kind { create, remove, set, set_acl };
  kind type = kind::set;
  std::string path;
  std::string data;
  acl access;
  std::int32_t version = 0;  ///< The new one, of the data or of the ACL.
  std::int64_t owner = 0;    ///< Of a node to create.
};

class tree {
 public:
  tree();

  const node* find(std::string_view path) const;
  void apply(const change& what, std::int64_t zxid, std::int64_t time_ms);
  std::vector<std::string> ephemerals(std::int64_t session) const;
  /// Containers that have had children and have none any more.
  std::vector<std::string> abandoned_containers() const;
  using map = std::map<std::string, node, std::less<>>;
  const map& nodes() const noexcept { return nodes_; }

  /// What one change is about to alter, for transactions that fail half-way. A node that exists keeps its children, and
  /// one that goes has none, so that they need not be kept.
  struct former {
    std::string path;
    bool existed = false;
    std::string data;
    acl access;
    zkrecipes::stat stat;
    zkrecipes::stat stat_of_parent;
  };
  former keep(const std::string& path) const;
  /// The latest change first.
  void restore(former kept);

 private:
  node& at(std::string_view path) { return nodes_.find(path)->second; }

  map nodes_;
};

/// A part of `path`.
std::string_view parent_path(std::string_view path);
/// The rest of it.
std::string_view last_name(std::string_view path);

}  // namespace zkrecipes::simulation
