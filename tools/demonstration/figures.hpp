#pragma once

#include "audit.hpp"

namespace demo {

/// What a run of either kind has shown.
struct figures {
  int servers = 3;
  int consumers = 3;
  audit counts;
  int planned_server_kills = 1;
  int server_leaders_killed = 0;
  int failed_consumers = 0;  ///< Those with an exit status other than 0, except those that we or a message killed.
  int runs_ended = 0;        ///< Those of them whose run ended with an error.
  int killed_by_messages = 0;
  double seconds = 0;

  /// Whether nothing was wrong with messages and consumers, and each leader of the ensemble was killed that should be.
  bool clean() const noexcept {
    return counts.clean() && failed_consumers == 0 && runs_ended == 0 && server_leaders_killed >= planned_server_kills;
  }
};

}  // namespace demo
