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

struct folder_content {
  std::vector<folder_entry> entries{};
  bool is_complete = true;  ///< False: the node, or one of its children, may not be read.
};

/// The children of a node, in any order. A node that is missing has none. Throws `failure`.
boost::asio::awaitable<folder_content> read_folder(zkrecipes::session session, std::string path);

}  // namespace zkadmin
