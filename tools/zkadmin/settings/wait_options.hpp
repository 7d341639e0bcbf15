// How an intervention is followed to its end.
#pragma once

#include <chrono>
#include <optional>

namespace zkadmin {

struct wait_options {
  bool wait = false;
  std::optional<std::chrono::milliseconds> limit{};  ///< For how long; nothing: a minute.
};

}  // namespace zkadmin
