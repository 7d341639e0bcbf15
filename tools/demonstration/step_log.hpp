// The steps that the processes of a balanced run have made. Each process logs its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace demo {

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

}  // namespace demo
