// Reads one node that has to exist.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/node_view.hpp"

namespace zkadmin {

struct node_reading {
  node_view view{};
  std::string data{};
};

/// With its data. Throws `failure` (not_found, auth, ...).
boost::asio::awaitable<node_reading> read_node(zkrecipes::session session, std::string path);

/// Also one whose data may not be read; its recipe is not known then. Throws `failure`.
boost::asio::awaitable<node_view> read_stat(zkrecipes::session session, std::string path);

/// Why the node belongs to a recipe, so that it is not for hands: its data, its name, or that of one above it. Empty:
/// nothing says so. Reads the node and all above it. Throws `failure`; also if one may not be read, because then it is
/// not known.
boost::asio::awaitable<std::string> recipe_that_keeps(zkrecipes::session session, std::string path);

/// As far as the data and the name of the node itself tell.
std::string recipe_that_keeps(const std::string& path, const std::string& mark);

}  // namespace zkadmin
