// Tells a dependency that is away from messages that can not be processed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "delivery/delivery_window.hpp"

namespace zkrecipes::detail {

// The pause before the next attempt at a message.

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

/// While attempts at different messages fail and none succeeds, the dependency is at fault, and not the messages. Then
/// it is *open*: one message is tried at a time, with pauses, and an attempt that fails does not count. The probe is
/// the message that came last, and where all have been tried they take turns, so that messages which can never succeed
/// do not stand for all. The first success closes it, and all that was spared is tried again at once. A message that
/// fails then is at fault itself: that attempt counts, and does not open it again.
///
/// Nothing can tell whether messages that fail for good are all there are. So one attempt in `message_retry::outage`
/// counts, that of the first message, which is parked in the end. It needs no session.
class circuit_breaker {
 public:
  static constexpr std::chrono::milliseconds longest_probe_pause{4'000};

  /// Both outlive it.
  circuit_breaker(delivery_window& window, const queue_consumer_options& options);

  bool is_open() const noexcept { return is_open_; }
  /// Why the attempt has failed that has opened it.
  const std::string& reason() const noexcept { return reason_; }

  /// An attempt has failed. `is_forbidden`: a server has refused its effects for want of rights.
  /// True: it does not count, and the message rests.
  bool spares(message_in_hand& which, const message_outcome& failed, bool is_forbidden, lease_clock::time_point now);
  /// The same for a message that is not tried again.
  void on_failure(message_in_hand& which, const std::string& reason, bool is_forbidden, lease_clock::time_point now);
  /// An attempt has succeeded, and its effects have happened.
  void on_success(lease_clock::time_point now);
  /// A failed attempt was counted: the next one counts after this pause. The message is tried earlier, too, unless
  /// others have succeeded between its last two attempts. `is_asked_for`: `process` has said how long the pause is.
  void rest(message_in_hand& which, std::chrono::milliseconds pause, bool is_asked_for, lease_clock::time_point now);

  /// Whether a message may be begun.
  bool lets_begin(lease_clock::time_point now) const;
  /// Sees to it that there is a message to be tried, when `lets_begin`.
  void prepare_probe(lease_clock::time_point now);
  /// The message to be begun, when `lets_begin`; null if there is none.
  message_in_hand* next(lease_clock::time_point now) { return window_.next(now, is_open_ && !may_count(now)); }
  /// A message was begun.
  void on_begun();
  /// When the next message may be begun; `never` if it is closed.
  lease_clock::time_point next_probe() const noexcept { return is_open_ ? next_probe_ : never; }

 private:
  bool is_strict() const noexcept { return options_.order == message_order::strict; }
  bool are_enough(const message_in_hand& which);
  lease_clock::duration varied(lease_clock::duration pause);
  void rest_until(message_in_hand& which, lease_clock::time_point latest, lease_clock::time_point now);
  bool takes_count(const message_in_hand& which, lease_clock::time_point now);
  void open(const std::string& reason, lease_clock::time_point now);
  void close();
  bool may_count(lease_clock::time_point now) const;
  bool is_first_due(lease_clock::time_point now) const;
  std::uint64_t next_spared(lease_clock::time_point now);
  bool release(std::uint64_t number);

  delivery_window& window_;
  const queue_consumer_options& options_;
  std::map<std::uint64_t, std::string> failing_;  // messages that have failed since the last success, with their lanes
  std::set<std::uint64_t> spared_;                // they rest until they are tried again as probes
  lease_clock::time_point last_success_{};
  bool is_open_ = false;
  std::string reason_;
  lease_clock::time_point next_probe_{};
  lease_clock::duration pause_{};
  lease_clock::time_point next_count_{};  // from here on one attempt counts
  std::optional<std::uint64_t> first_;    // the message whose attempt that is
  std::uint64_t last_probe_ = 0;          // of those that take turns
  bool is_probing_ = false;
  bool is_prepared_ = false;
  std::minstd_rand random_;
};

}  // namespace zkrecipes::detail
