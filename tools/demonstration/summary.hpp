#pragma once

#include <cstdint>
#include <map>

#include "audit.hpp"
#include "observer.hpp"

namespace demo {

/// What a run has shown.
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

}  // namespace demo
