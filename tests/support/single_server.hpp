// The only real server of a test program.
#pragma once

#include <chrono>
#include <utility>

#include <testcluster/ensemble.hpp>

namespace zkrecipes::test {

/// These options for one server: fast ticks, and time to start on a busy machine.
inline testcluster::ensemble_options single_server(testcluster::ensemble_options special) {
  special.servers = 1;
  special.tick_time = std::chrono::milliseconds(250);
  special.start_timeout = std::chrono::seconds(120);
  return special;
}

}  // namespace zkrecipes::test
