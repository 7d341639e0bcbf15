#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "figures.hpp"
#include "observer.hpp"

namespace demo {

/// What a run with an elected consumer has shown.
struct summary : figures {
  std::map<std::int64_t, term_history> terms;
  int planned_kills = 1;
  bool saw_hand_over = false;
  std::vector<std::string> sources;  ///< Those that the messages went through.

  /// How many leading consumers were killed by us.
  int kills() const;
  /// The gaps behind the terms that we ended by killing their leaders, in milliseconds, the shortest one first.
  std::vector<double> gaps_after_kills() const;

  /// True if no message was lost, no effect was duplicated, unexpected or out of order, exactly the bad messages were
  /// parked, no terms overlapped, no consumer failed, and every fault of the plan took place.
  bool success() const;
};

}  // namespace demo
