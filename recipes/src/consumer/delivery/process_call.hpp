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
  lease_clock::time_point begun{};  ///< When `process` was called; known once `progress` counts it.
  std::optional<message_outcome> outcome{};
};

/// How far a call is. While more messages are begun than have ended, `process` runs.
struct call_progress {
  std::uint32_t begun = 0;
  std::uint32_t ended = 0;  ///< So many have an outcome, which can be read then.

  bool is_at_work() const noexcept { return begun > ended; }
};

/// `process` for a message, and then for those behind it that it takes along: see `delivery_calls::take_along`.
struct process_call {
  std::vector<processed_message> messages;
  std::size_t taken = 0;  ///< So many outcomes have been taken. The window has the next as begun. Others wait there.
  std::atomic<call_progress> progress{call_progress()};  ///< Written on the executor.
  std::atomic<bool> is_last{false};                      ///< After the present message none is begun any more.
  std::atomic<bool> has_lapsed{false};                   ///< `process` was not called, because the lease had lapsed.
  lease_clock::time_point begun{};
  lease_clock::time_point next_look{};  ///< Whether there are outcomes to be taken before the call ends.
  task_ptr run{};

  std::uint64_t number() const { return messages[taken].number; }
};

using call_ptr = std::shared_ptr<process_call>;

}  // namespace zkrecipes::detail
