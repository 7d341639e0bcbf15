// Prints the changes of a node, one by one.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/node_memory.hpp"
#include "settings/node_request.hpp"

namespace zkadmin {

/// A line; as TSV one more for each child. `now`: milliseconds since 1970.
std::string to_text(const node_change& change, const std::string& path, std::int64_t now, node_format format);

}  // namespace zkadmin
