// The nodes that stand in the line of a recipe, with their data: what all recipes with a line are read by.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/reading.hpp"
#include "cluster/recipe_status.hpp"

namespace zkadmin {

/// A child of a recipe's node.
struct child_node {
  std::string name;
  std::string data{};                          ///< Empty also if it was not read, or may not be.
  std::optional<zkrecipes::node_stat> stat{};  ///< Nothing: it was not read.
  bool is_refused = false;                     ///< Its data may not be read.
};

/// What stands at one path.
struct node_line {
  std::string path;
  zkrecipes::node_data root{};           ///< The recipe's own node.
  std::vector<child_node> members{};     ///< In the order of the line. Those behind the first ones are not read.
  std::vector<std::string> others{};     ///< The names of the children that are no members.
  std::vector<std::string> strangers{};  ///< Those of the others that belong to another recipe.
  std::chrono::milliseconds now{0};      ///< This machine's clock, since 1970.
};

using name_markers = std::span<const std::string_view>;

/// The members whose names have one of the markers before their number. Reads the first `most` of them. Errors: those
/// of the requests. Throws `failure` if a member can not be read for another reason than its access list.
boost::asio::awaitable<reading<node_line>> read_node_line(zkrecipes::session session, std::string path,
                                                          name_markers markers, std::size_t most);

/// All children as members, by name. Otherwise as `read_node_line`.
boost::asio::awaitable<reading<node_line>> read_node_children(zkrecipes::session session, std::string path,
                                                              std::size_t most);

/// Reads one child into `into`; its name stays empty if it is not there any more. Throws `failure`.
boost::asio::awaitable<void> read_child(zkrecipes::session session, std::string path, child_node& into);

/// This machine's clock, since 1970.
std::chrono::milliseconds clock_now() noexcept;

/// Since the node was created, by this machine's clock; not below 0.
std::chrono::milliseconds age_of(const zkrecipes::node_stat& stat, std::chrono::milliseconds now) noexcept;

/// What the node itself tells: name, session, token, age. `id` is empty.
participant_status participant_of(const child_node& node, std::string role, std::chrono::milliseconds now);

}  // namespace zkadmin
