// The children of a node as a view saw them, and the difference of two such snapshots.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/node.hpp>

namespace zkrecipes {

/// One child in a view.
struct child_node {
  std::string name;
  std::string data;
  node_stat stat;    ///< As of the last change of the data.
  error_code error;  ///< `no_auth` if the data must not be read; the other children are shown all the same.
};

using child_ptr = std::shared_ptr<const child_node>;

/// The children as a view saw them. A snapshot that was never filled in holds nothing, not even the parent.
struct children_snapshot {
  bool exists = false;           ///< Whether the parent exists.
  std::vector<child_ptr> nodes;  ///< In order of their names.

  /// The child of this name; null if there is none.
  child_ptr find(std::string_view name) const;
};

/// How `now` differs from what was seen before. A child that was deleted and made again in between is another child,
/// whatever its version: it is in `removed` and in `added`.
struct children_change {
  children_snapshot now;
  std::vector<child_ptr> added;
  std::vector<child_ptr> changed;
  std::vector<child_ptr> removed;  ///< As they were last seen.

  bool empty() const noexcept { return added.empty() && changed.empty() && removed.empty(); }
};

/// The difference of two snapshots, without I/O. Two nodes are the same if their `czxid`, `mzxid` and `error` are.
children_change difference(const children_snapshot& before, const children_snapshot& now);

}  // namespace zkrecipes
