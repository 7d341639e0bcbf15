// Reads any recipe, which takes a ZooKeeper session.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/reading.hpp"
#include "cluster/recipe_status.hpp"

namespace zkadmin {

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

/// That of zkrecipes, Curator or kazoo.
boost::asio::awaitable<reading<recipe_status>> read_semaphore(zkrecipes::session session, std::string path,
                                                              std::size_t participants);

}  // namespace zkadmin
