// The options of `resign`.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace zkadmin {

/// The default of `limit`.
inline constexpr std::chrono::milliseconds default_resignation_limit = std::chrono::minutes(1);

struct resignation_options {
  bool wait = false;                                 ///< Follow the hand-over to its end.
  bool as_lines = false;                             ///< One JSON object a line.
  std::optional<std::chrono::milliseconds> limit{};  ///< How long to follow it.
  std::optional<std::chrono::milliseconds> grace{};  ///< Then, if `force`, the leader's place is ended.
  bool force = false;
  std::string confirmed{};  ///< The id of that leader.
};

/// Throws `failure` (usage) if the options do not go together.
void require_consistent(const resignation_options& how);

}  // namespace zkadmin
