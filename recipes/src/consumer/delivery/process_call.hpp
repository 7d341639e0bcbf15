// Calls of a consumer's `process`, one after the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <zkrecipes/consumer/message_outcome.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/queue_base.hpp>

#include "career/task.hpp"

namespace zkrecipes::detail {

/// A message of a call, and what has come of it.
struct processed_message {
  std::uint64_t number = 0;  ///< In the window.
  std::shared_ptr<const message> what;
  lease_clock::time_point begun{};  ///< When `process` was called; known once `steps` counts it.
  std::optional<message_outcome> outcome{};
};

/// `process` for a message, and then for those behind it that it takes along: see `delivery_run::take_along`.
struct process_call {
  std::vector<processed_message> messages;
  std::size_t taken = 0;  ///< So many outcomes have been taken. The window has the next as begun. Others wait there.
  std::atomic<std::size_t> steps{0};  ///< Begins and ends of `process`, so odd while it runs. Written on the executor.
  std::atomic<bool> is_last{false};   ///< After the present message none is begun any more.
  std::atomic<bool> has_lapsed{false};  ///< `process` was not called, because the lease had lapsed.
  lease_clock::time_point begun{};
  lease_clock::time_point next_look{};  ///< Whether there are outcomes to be taken before the call ends.
  task_ptr run{};

  std::uint64_t number() const { return messages[taken].number; }
  /// How many have an outcome, which can be read then.
  std::size_t ended() const { return steps.load(std::memory_order_acquire) / 2; }
};

using call_ptr = std::shared_ptr<process_call>;

}  // namespace zkrecipes::detail
