// When the calls of the consumers' careers began and ended. Each process logs its own calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
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

/// A log that is flushed after each line: also the log of a killed process is complete.
class phase_log {
 public:
  /// When the process was awake for the last time, if it has slept past its lease since then.
  using sleep_finder = std::function<std::optional<std::int64_t>()>;

  explicit phase_log(const std::filesystem::path& file);

  /// Asks `find` before each beginning and each end of a phase, so that a sleep is noted before what it has delayed.
  void watch_sleep(sleep_finder find) { find_sleep_ = std::move(find); }
  void look(const std::string& consumer);
  void record(const phase_mark& what);
  /// Logs the beginning of a phase now, whatever time the mark has, and its end when the returned object is destroyed.
  [[nodiscard]] std::shared_ptr<void> begins(phase_mark what);

 private:
  void record_now(phase_mark what);
  bool record_sleep(const std::string& consumer);

  std::ofstream out_;
  sleep_finder find_sleep_;
};

// Counts the moves of shards, and those that the changes of the group explain.

/// How the terms of all shards have ended.
struct move_counts {
  std::uint64_t moves = 0;       ///< Terms beyond the first of each shard, as the records count them.
  std::uint64_t bound = 0;       ///< How many there may be: see `count_moves`.
  std::uint64_t died = 0;        ///< Terms of processes that were killed.
  std::uint64_t left = 0;        ///< Terms of processes that were asked to stop or to drain.
  std::uint64_t lost = 0;        ///< Terms of processes that were paused, or that lost their connection.
  std::uint64_t unseen = 0;      ///< Terms that were over before their career was told.
  std::uint64_t rebalanced = 0;  ///< Terms that the planner has ended.
  std::uint64_t unexplained = 0;
};

/// `marks`: in order of time, up to the moment at which the records have these `epochs`, by shard. `joins`: how many
/// members there were after each join. The bound is the shards of each process at the moment when it was killed,
/// stopped, drained, paused or cut off, and for each join the share of the new member, which is the number of shards
/// divided by that of members, rounded up.
move_counts count_moves(const std::vector<phase_mark>& marks, const std::vector<std::int64_t>& epochs,
                        const std::vector<std::size_t>& joins);

}  // namespace demo
