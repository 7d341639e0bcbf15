// A broken rule: the run, the faults that are needed, and the command that shows it again; and the line on a
// terminal that tells how far a search is.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "run/plan.hpp"
#include "run/scenarios.hpp"
#include "world/clockwork.hpp"

namespace zkrecipes::simulation {

// Shows the progress of a long command on one line of the terminal, which is overwritten. Prints nothing if standard
// error is not a terminal.

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

struct finding {
  plan what;
  const char* scenario;
  violation broken;
  std::vector<std::size_t> needed;  ///< Indices of the faults of the plan that are needed to break the rule.
};

/// The finding for this run, with as few faults as are needed to break the rule.
finding shrunk(plan what, const named_scenario& which, const violation& broken);

/// The command that runs the finding again.
std::string again(const finding& what);

/// The broken rule, the faults that are needed, and the command that runs it again, on several lines.
std::string describe(const finding& what);

}  // namespace zkrecipes::simulation
