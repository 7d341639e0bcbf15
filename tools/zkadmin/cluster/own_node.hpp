// The node of a recipe itself, with the names of its children.
#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/reading.hpp"

namespace zkadmin {

struct own_node {
  zkrecipes::node_data node{};
  std::vector<std::string> names{};
};

/// Two requests, one behind the other.
boost::asio::awaitable<reading<own_node>> read_own_node(zkrecipes::session session, std::string path);

}  // namespace zkadmin
