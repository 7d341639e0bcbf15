#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/endpoint.hpp"

namespace zkrecipes::detail {

/// The parts of `session_options::hosts`.
struct host_list {
  std::vector<backend::endpoint> servers;
  std::string root;  ///< "" or "/a/b".
};

/// Reads "host:port,host:port/root". \throws std::invalid_argument naming the part that is wrong.
host_list parse_hosts(std::string_view text);

}  // namespace zkrecipes::detail
