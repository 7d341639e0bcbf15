// How far the tracks of a balanced run were apart, by what the processes have logged.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "step_log.hpp"

namespace demo {

struct spread_figures {
  std::int64_t max_spread = 0;  ///< Never more than the true one.
  std::uint64_t steps = 0;
  std::uint64_t stretches = 0;  ///< A process that dies, or is moved forward, begins a new one.

  friend bool operator==(const spread_figures&, const spread_figures&) = default;
};

/// The marks of each process, those of all its lives in turn, with those of the director. A process counts its own
/// steps. The balance is asked only where a stretch begins.
///
/// At the end of each step the tracks that are surely live are compared: the steps that were surely made of the one,
/// with the most that the other can have made. A track is surely live from its first step to the beginning of its last
/// one in a stretch; and, if its process was killed or stopped after that without having been cut off, until then.
spread_figures measure_spread(const std::map<std::string, std::vector<step_mark>>& marks);

}  // namespace demo
