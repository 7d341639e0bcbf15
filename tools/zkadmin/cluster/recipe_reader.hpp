// Reads any recipe, which takes a ZooKeeper session.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/collector.hpp"
#include "cluster/line_status.hpp"
#include "cluster/recipe_status.hpp"

namespace zkadmin {

// Semaphores with the layouts of Curator and kazoo: the permits that are taken in one place, those that wait in
// another. Pure functions.

/// Curator's InterProcessSemaphoreV2. `leases`: the line of its folder "leases"; `waiting`: that of its folder "locks".
/// The number of permits is stored nowhere.
recipe_status curators_semaphore_of(std::string path, const node_line& leases, const node_line& waiting);

/// kazoo's Semaphore. `leases`: all children of its node, whose data is the number of permits; `waiting`: the line of
/// its lock, `<path>-__lock__`.
recipe_status kazoos_semaphore_of(const node_line& leases, const node_line& waiting);

name_markers lease_markers() noexcept;

/// How many participants of a recipe are read if there are many recipes, and if there is only one.
inline constexpr std::size_t some_participants = 20;
inline constexpr std::size_t many_participants = 1'000;

struct recipe_reading {
  std::size_t participants = some_participants;
  bool is_declared = false;  ///< The user has said that it is of this kind. Else the layout says what it may be.
};

/// The present state of a recipe. Foreign data and refused access are shown as its `access`. Error: `no_node`. Throws
/// `failure` for others.
boost::asio::awaitable<reading<recipe_status>> read_recipe(zkrecipes::session session, recipe which, std::string path,
                                                           recipe_reading how);

/// The queue with claims and letters.
boost::asio::awaitable<reading<recipe_status>> read_queue_recipe(zkrecipes::session session, std::string path,
                                                                 std::size_t participants);

/// The semaphore of zkrecipes, Curator or kazoo.
boost::asio::awaitable<reading<recipe_status>> read_semaphore(zkrecipes::session session, std::string path,
                                                              std::size_t participants);

}  // namespace zkadmin
