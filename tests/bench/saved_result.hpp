// A result in a file, with what a reader must know of its run: tests/bench/plot draws from it.
#pragma once

#include <string>
#include <vector>

#include "parts.hpp"
#include "table.hpp"

namespace bench {

/// Versions of the peers, which only the packages know. Empty: not measured.
struct peer_versions {
  std::string curator;
  std::string kazoo;
};

/// JSON with the date, the settings, the versions, the machine (without its name), the parts that have failed and why,
/// if any have, and the rows, one row per line.
std::string saved_result(const std::vector<row>& rows, const std::vector<std::string>& failed, const plan& what,
                         const peer_versions& peers);

}  // namespace bench
