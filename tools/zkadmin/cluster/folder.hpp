// The children of a node, with their data.
#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace zkadmin {

struct folder_entry {
  std::string name;
  std::string data;
  zkrecipes::node_stat stat;
};

/// The children of a node, in any order. A node that is missing, or that may not be read, has none. Throws `failure`.
boost::asio::awaitable<std::vector<folder_entry>> read_folder(zkrecipes::session session, std::string path);

}  // namespace zkadmin
