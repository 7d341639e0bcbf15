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
  int planned_kills = 1;
  int planned_server_kills = 1;
  int server_leaders_killed = 0;
  int failed_consumers = 0;  ///< Those with an exit status other than 0, except those that we or a message killed.
  int runs_ended = 0;        ///< Those of them whose run ended with an error.
  int killed_by_messages = 0;
  bool saw_hand_over = false;
  double seconds = 0;

  /// How many leading consumers were killed by us.
  int kills() const;

  /// True if no message was lost, no effect was duplicated, unexpected or out of order, exactly the bad messages were
  /// parked, no terms overlapped, no consumer failed, and every fault of the plan took place.
  bool success() const;
};

}  // namespace demo
