// One call of a consumer's `process`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/message_outcome.hpp>
#include <zkrecipes/queue_types.hpp>

#include "consumer/task.hpp"

namespace zkrecipes::detail {

struct process_call {
  std::uint64_t number = 0;  ///< The number of the message in the window.
  std::shared_ptr<const message> what;
  lease_clock::time_point begun{};
  std::optional<message_outcome> outcome{};  ///< Nothing if the call was not made, because the lease had lapsed.
  task_ptr run{};
};

using call_ptr = std::shared_ptr<process_call>;

}  // namespace zkrecipes::detail
