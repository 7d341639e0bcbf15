// When the calls of the consumers' careers began and ended. Each process logs its own calls.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace demo {

/// One entry of a log. The time is of the machine's monotonic clock, which is the same for all processes.
struct phase_mark {
  std::int64_t time_ns = 0;
  std::string consumer;
  std::int64_t epoch = 0;
  std::string phase;
  bool begins = false;
};

std::int64_t monotonic_ns();

/// The mark of a process that was stopped or killed and therefore does nothing from now on.
phase_mark silenced(std::string consumer);

/// The marks of all files in the folder, in order of time.
std::vector<phase_mark> read_phases(const std::filesystem::path& folder);

/// Counts the phases that began during a phase of another term. `marks` are in order of time.
std::uint64_t count_overlaps(const std::vector<phase_mark>& marks);

}  // namespace demo
