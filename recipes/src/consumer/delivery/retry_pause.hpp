// The pause before the next attempt at a message.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include <zkrecipes/consumer/queue_consumer.hpp>

namespace zkrecipes::detail {

/// The longest pause that a user can ask for.
inline constexpr std::chrono::milliseconds longest_pause = std::chrono::hours(24);

/// A pause that the user has asked for: 0 to 24 h.
inline std::chrono::milliseconds bounded(std::chrono::milliseconds pause) {
  return std::clamp(pause, std::chrono::milliseconds(0), longest_pause);
}

/// `random`: any 64 bits. `attempts`: how many have failed, 1 or more.
inline std::chrono::milliseconds pause_after(const message_retry& policy, std::int32_t attempts, std::uint64_t random) {
  const auto first = static_cast<double>(policy.first.count());
  const auto longest = static_cast<double>(policy.longest.count());
  const auto full = std::min(longest, first * std::pow(policy.factor, attempts - 1));
  const auto share = static_cast<double>(random >> 11) / static_cast<double>(std::uint64_t{1} << 53);
  return std::chrono::milliseconds(static_cast<std::int64_t>(full * (1 - policy.jitter * share)));
}

}  // namespace zkrecipes::detail
