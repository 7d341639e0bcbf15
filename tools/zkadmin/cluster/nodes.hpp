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
