// Single nodes, as ls, stat and tree show them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/node.hpp>

#include "cluster/status.hpp"

namespace zkadmin {

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

}  // namespace zkadmin
