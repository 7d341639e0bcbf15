// The summary, for people and for programs.
#pragma once

#include <chrono>
#include <string>

#include "audit.hpp"

namespace demo {

struct summary {
  int servers = 3;
  int consumers = 3;
  audit counts;
  std::map<std::int64_t, term_history> terms;
  int server_leaders_killed = 0;
  int failed_consumers = 0;  ///< That ended by themselves with another status than 0.
  bool saw_hand_over = false;
  double seconds = 0;

  /// Nothing lost, repeated, out of order or at the same time, no process failed, and all that was to happen did happen.
  bool success() const;
};

std::string to_json(const summary& outcome);
std::string to_text(const summary& outcome);

}  // namespace demo
