// How long the parts of a run take.
#pragma once

#include <chrono>

#include "roles.hpp"

namespace demo {

struct timings {
  std::chrono::milliseconds tick{500};           ///< The tick of the servers.
  std::chrono::milliseconds timeout{4'000};      ///< The timeout of the consumers' sessions.
  std::chrono::milliseconds deadline{1'000};     ///< The deadline of their hand-overs.
  std::chrono::milliseconds grace{5'000};        ///< For so long shards wait for an owner that restarts.
  std::chrono::milliseconds production{30'000};  ///< The messages are spread over this time.
  std::chrono::milliseconds patience{110'000};   ///< The limit for the whole run.
};

/// With more than one kill all is faster, so that many kills take little time.
timings choose_timings(const direction& how);

}  // namespace demo
