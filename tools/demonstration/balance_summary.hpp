#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace demo {

// The steps that the processes of a balanced run have made. Each process logs its own.

/// One entry of a log. The times are of the machine's monotonic clock, which is the same for all processes.
struct step_mark {
  enum class kind {
    step,  ///< A step was made between the two times.
    live,  ///< The process is a member, and its lease lasts from the first time to the second if nothing else happens.
    begins,   ///< The process begins, with a new track.
    leaving,  ///< The track leaves at once, or waits for it: noted before.
  };
  kind what = kind::step;
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  std::int64_t position = 0;  ///< Where the track is, behind the step.

  friend bool operator==(const step_mark&, const step_mark&) = default;
};

/// Writes the marks of one process to a file of its own, which its next life goes on with. What was written stays when
/// the process is killed.
class step_log {
 public:
  explicit step_log(const std::filesystem::path& file);
  step_log(const step_log&) = delete;
  step_log& operator=(const step_log&) = delete;
  ~step_log();

  void record(const step_mark& what);

 private:
  int file_;
};

/// The marks of a file, in the order in which they were written. A line that was not written to its end is left out.
std::vector<step_mark> read_steps(const std::filesystem::path& file);

/// How far the tracks of a balanced run were apart, by what the processes have logged.
struct spread_figures {
  std::int64_t max_spread = 0;  ///< Never more than the true one.
  std::uint64_t steps = 0;
  std::uint64_t stretches = 0;  ///< A process that dies, or is moved forward, begins a new one.

  friend bool operator==(const spread_figures&, const spread_figures&) = default;
};

/// The marks of each process, those of all its lives in turn. A process counts its own steps. The balance is asked only
/// where a stretch begins.
///
/// At the end of each step the tracks that are surely live are compared: the steps that were surely made of the one,
/// with the most that the other can have made. A track is surely live from its first step in a stretch to the beginning
/// of its last one, and to the end of the lease that its process has seen last, also if that was killed or stopped
/// before: the servers keep its node. One that has left was live until then. Nothing else tells that a track is live: a
/// process that was stopped, killed or not run for long need not have noticed what became of it.
spread_figures measure_spread(const std::map<std::string, std::vector<step_mark>>& marks);

/// What a balanced run has shown.
struct balance_summary {
  int servers = 3;
  int processes = 0;
  std::uint64_t messages = 0;
  std::uint64_t processed = 0;
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t range = 0;
  spread_figures spread{};
  int planned_kills = 0;
  int kills = 0;
  int planned_pauses = 0;
  int pauses = 0;
  int planned_server_kills = 0;
  int server_leaders_killed = 0;
  int failed_processes = 0;  ///< Processes that ended by themselves.
  double seconds = 0;

  /// True if each message was processed once, no two tracks were apart by more than the range, every fault of the plan
  /// took place, and the tracks were compared at all.
  bool success() const noexcept {
    const bool is_complete = lost == 0 && duplicated == 0 && processed == messages && failed_processes == 0;
    const bool is_close = spread.max_spread > 0 && spread.max_spread <= static_cast<std::int64_t>(range);
    const bool is_tried =
        kills >= planned_kills && pauses >= planned_pauses && server_leaders_killed >= planned_server_kills;
    return is_complete && is_close && is_tried;
  }
};

}  // namespace demo
