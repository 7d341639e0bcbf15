// Single nodes: paths, owners, and how ls, stat and tree show them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/node.hpp>
#include <zkrecipes/session.hpp>

#include "cluster/status.hpp"

namespace zkadmin {

// What one look at a node differs from the look before.

struct node_change {
  enum class kind { absent, present, created, changed, deleted, children, disconnected, reconnected };

  kind what;
  std::optional<zkrecipes::node_stat> stat{};
  std::optional<std::string> data{};
  std::vector<std::string> added{};  ///< Sorted, as `removed`.
  std::vector<std::string> removed{};
  /// How many changes of the same sort were between the two looks, besides what is told; nothing: that is not known.
  std::optional<std::int64_t> unseen{0};
};

const char* to_string(node_change::kind what) noexcept;

/// Whether something has happened to the node. The others tell where the watch begins, and how the connection is.
bool is_change(const node_change& change) noexcept;

/// The state of a node at the last look. Versions tell how many changes no look has seen; a new creator tells that the
/// node was deleted in between.
class node_memory {
 public:
  bool exists() const noexcept { return stat_.has_value(); }
  /// As the operations of a session that wait for a change take them.
  std::int64_t mzxid() const noexcept { return stat_ ? stat_->mzxid : 0; }
  std::int64_t pzxid() const noexcept { return pzxid_; }

  /// The first look; nothing: the node does not exist.
  node_change begin(const std::optional<zkrecipes::node_data>& node);
  /// The children at the first look.
  void begin_children(zkrecipes::node_children children);

  std::vector<node_change> on_data(const zkrecipes::node_data& node);
  std::vector<node_change> on_children(zkrecipes::node_children children);
  std::vector<node_change> on_gone();

 private:
  void remember(const zkrecipes::node_stat& stat);

  std::optional<zkrecipes::node_stat> stat_;
  std::int64_t pzxid_ = 0;
  std::int32_t cversion_ = 0;
  std::vector<std::string> names_;
};

/// The path of a child.
inline std::string join(const std::string& parent, const std::string& name) {
  return (parent == "/" ? "" : parent) + "/" + name;
}

/// The path of the parent.
inline std::string parent_of(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

/// The last part of a path.
inline std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The session that a node belongs to.

/// 0: none. A container, or a node with a time to live, belongs to no session although its owner is not 0.
inline std::int64_t session_of(const zkrecipes::node_stat& stat) noexcept {
  const auto owner = stat.ephemeral_owner;
  const bool is_container = owner == std::numeric_limits<std::int64_t>::min();
  const bool has_time_to_live = (static_cast<std::uint64_t>(owner) >> 40) == 0xff'0000;
  return is_container || has_time_to_live ? 0 : owner;
}

// Single nodes, as ls, stat and tree show them.

/// "ephemeral" or "persistent". Servers do not tell clients which persistent nodes are containers or have a time to
/// live.
const char* kind_of(const zkrecipes::node_stat& stat) noexcept;

/// What the data says that it is: the field "zkrecipes" of a JSON object; empty if there is none.
std::string mark_of(std::string_view data);

struct node_view {
  std::string path;
  std::size_t depth = 0;  ///< Below the node that was asked for.
  std::optional<zkrecipes::node_stat> stat{};
  /// The mark of its data, "election" if only its children tell, empty: it is not known to belong to a recipe.
  std::string recipe{};
};

struct node_listing {
  std::vector<node_view> nodes{};    ///< Parents before their children, siblings by name.
  std::vector<survey_note> notes{};  ///< Why the listing is not complete.
  bool complete = true;
  bool refused = false;  ///< Something may not be read with these credentials.
};

// The node of a recipe itself, with the names of its children.

struct own_node {
  zkrecipes::node_data node{};
  std::vector<std::string> names{};
};

/// Two requests, one behind the other.
boost::asio::awaitable<reading<own_node>> read_own_node(zkrecipes::session session, std::string path);

}  // namespace zkadmin
