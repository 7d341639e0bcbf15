// Shows the progress of a long command on one line of the terminal, which is overwritten. Prints nothing if standard
// error is not a terminal.
#pragma once

#include <chrono>
#include <string>

namespace zkrecipes::simulation {

class progress_line {
 public:
  progress_line();
  ~progress_line() { clear(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// `part`, from 0 to 1, is the share that is done; `what` is shown in front of the time spent and the estimate of the
  /// time left. Redraws at most four times a second.
  void show(double part, const std::string& what);

  /// To be called before any other line is printed.
  void clear();

 private:
  using clock = std::chrono::steady_clock;

  bool is_terminal_;
  bool shown_ = false;
  clock::time_point began_ = clock::now();
  clock::time_point next_ = began_;
};

}  // namespace zkrecipes::simulation
