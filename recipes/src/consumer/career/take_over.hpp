// Makes the holder of a seat the leader of a new term.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "career/known_record.hpp"
#include "career/term_seat.hpp"
#include "career/term_state.hpp"

namespace zkrecipes::detail {

struct take_over_request {
  term_seat_ptr seat;                               ///< While it is not lost, no other candidate may begin a term.
  std::chrono::milliseconds hand_over_deadline{0};  ///< This and the next are declared by the new term.
  std::chrono::milliseconds aftermath{0};
  std::function<bool()> give_up;        ///< Asked whenever `give_up_told` is notified.
  condition* give_up_told;              ///< It outlives the take-over.
  std::optional<known_record> known{};  ///< Saves a look if it is still right.
};

/// Begins the next term with a write that fences the previous term. If the predecessor has not retired, waits until it
/// confirms, or until its hand-over deadline has passed on our clock: since we became first in the line, or for a shard
/// since we have seen that the node of its owner's member is gone. If the record says that the predecessor has died,
/// only its aftermath is waited for, from when we have first seen that. Errors: `operation_aborted` (gave up), why the
/// seat was lost, `foreign_data`, `no_auth`.
awaitable<outcome<term_ptr>> take_over(take_over_request what);

}  // namespace zkrecipes::detail
