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
  std::uint32_t shard = 0;
};

std::int64_t monotonic_ns();

/// The mark of something that concerns a whole process, such as these.
phase_mark mark_of_process(std::string consumer, std::string what);
inline constexpr char lived[] = "lived";        ///< It was surely alive at this time: the last that is known of it.
inline constexpr char silenced[] = "silenced";  ///< It was stopped or has died before, and does nothing from now on.
inline constexpr char asleep[] = "asleep";      ///< It was not run from now on, and woke behind the end of its lease.
inline constexpr char awake[] = "awake";        ///< It was run in time again.
inline constexpr char started[] = "started";
inline constexpr char leaves[] = "leaves";  ///< It was asked to end.
inline constexpr char cut[] = "cut";        ///< It has lost its connection, its lease or its session.

/// The marks of all files in the folder, in order of time.
std::vector<phase_mark> read_phases(const std::filesystem::path& folder);

/// Counts the phases that began during a phase of another term of the same shard. `marks` are in order of time.
///
/// A phase without an end goes on for as long as its process surely lived: until its last own mark, or `lived`, before
/// it was silenced or fell asleep. The guardian ends the session of a dead process before anybody has noted its death.
/// What a process begins while it is asleep is not held against it: it looked at its lease before.
std::uint64_t count_overlaps(const std::vector<phase_mark>& marks);

}  // namespace demo
