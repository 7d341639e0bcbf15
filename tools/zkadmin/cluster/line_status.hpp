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

#include "cluster/recipe_status.hpp"
#include "cluster/status.hpp"

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

/// The id in the data of a member, shortened: those of this library have at most 256 bytes, but all data of a foreign
/// member is its id.
std::string told_id(const std::string& data);

/// What the node itself tells: name, session, token, age. `id` is empty.
participant_status participant_of(const child_node& node, std::string role, std::chrono::milliseconds now);

// The states of the recipes in which clients stand in line, from the nodes of the line. Pure functions.

/// The names of their members: ours, Curator's and kazoo's.
name_markers lock_markers() noexcept;
name_markers read_write_markers() noexcept;
name_markers permit_markers() noexcept;
name_markers round_member_markers() noexcept;

/// A lock; or an election with the names of Curator's LeaderSelector or of kazoo; or kazoo's WriteLocks. The kinds tell
/// what it may be. `is_certain`: the user has said that it is a lock.
recipe_status lock_of(const node_line& line, bool is_certain);

recipe_status read_write_lock_of(const node_line& line);

/// A semaphore of zkrecipes.
recipe_status semaphore_of(const node_line& line);

recipe_status double_barrier_of(const node_line& line);

/// One that can not be read or understood.
recipe_status recipe_without_view(std::string path, recipe which, recipe_access why);

/// Sets the headline: so many hold, whose role is "holder", and so many wait. Those that were not read count as well.
void set_holders(recipe_status& status, std::size_t holding, std::size_t waiting);

/// Adds a participant for each member that was read, with its id, and counts the others.
void add_members(recipe_status& status, const node_line& line, const std::string& role);

/// Notes the children that belong to another recipe, and counts those that mean nothing.
void add_strangers(recipe_status& status, const node_line& line);

}  // namespace zkadmin
