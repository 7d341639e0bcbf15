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
  int failed_consumers = 0;  ///< Those with an exit status other than 0, except those that we killed.
  bool saw_hand_over = false;
  double seconds = 0;

  /// True if no message was lost, no effect was duplicated, unexpected or out of order, no terms overlapped, no
  /// consumer failed, and every kind of fault took place.
  bool success() const;
};

std::string to_json(const summary& outcome);
std::string to_text(const summary& outcome);

}  // namespace demo
