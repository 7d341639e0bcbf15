#pragma once

#include <cstdint>

#include "spread_audit.hpp"

namespace demo {

/// What a balanced run has shown.
struct balance_summary {
  int servers = 3;
  int processes = 0;
  std::uint64_t messages = 0;
  std::uint64_t processed = 0;
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t range = 0;
  spread_figures spread{};
  int planned_kills = 0;
  int kills = 0;
  int planned_pauses = 0;
  int pauses = 0;
  int planned_server_kills = 0;
  int server_leaders_killed = 0;
  int failed_processes = 0;  ///< Those that ended by themselves.
  double seconds = 0;

  /// True if each message was processed once, no two tracks were apart by more than the range, every fault of the plan
  /// took place, and the tracks were compared at all.
  bool success() const noexcept {
    const bool is_complete = lost == 0 && duplicated == 0 && processed == messages && failed_processes == 0;
    const bool is_close = spread.max_spread > 0 && spread.max_spread <= static_cast<std::int64_t>(range);
    const bool is_tried =
        kills >= planned_kills && pauses >= planned_pauses && server_leaders_killed >= planned_server_kills;
    return is_complete && is_close && is_tried;
  }
};

}  // namespace demo
