// How far a long command is, on one line of a terminal that is written over; nothing where the output is not a terminal.
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

  /// `part` of the whole, from 0 to 1, is done; `what` stands in front of the time that the rest will take. Redrawn at
  /// most a few times a second.
  void show(double part, const std::string& what);

  /// To be called before a line that is to stay is printed.
  void clear();

 private:
  using clock = std::chrono::steady_clock;

  bool is_terminal_;
  bool shown_ = false;
  clock::time_point began_ = clock::now();
  clock::time_point next_ = began_;
};

}  // namespace zkrecipes::simulation
