// Makes the holder of a seat the leader of a new term.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "career/term_state.hpp"
#include "election/term_record.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// The term record of an election as it was last read, perhaps a while ago.
struct known_record {
  term_record record;
  std::int32_t version = 0;
  std::int64_t mzxid = 0;
  std::int64_t mtime = 0;  ///< 0: the record is known to have been written since.
};

/// Nothing if the node's data is not a term record.
std::optional<known_record> to_known(const backend::reply& node);

/// Reads the record, and sets a watch on it. Errors besides the server's: `foreign_data`; `connection_loss` after a
/// session timeout without a connection.
awaitable<outcome<known_record>> read_record(core_ptr session, std::string path, incarnation_ptr bound);

struct take_over_request {
  term_seat_ptr seat;                               ///< While it is not lost, no other candidate may begin a term.
  std::chrono::milliseconds hand_over_deadline{0};  ///< This and the next are declared by the new term.
  std::chrono::milliseconds aftermath{0};
  std::function<bool()> give_up;  ///< Asked whenever `give_up_told` is notified.
  condition* give_up_told;        ///< It outlives the take-over.
  /// The record as the candidate read it last. If its version is still right, the term begins without another read.
  std::optional<known_record> known{};
};

/// Begins the next term with a write that fences the previous term. If the predecessor has not retired, waits until it
/// confirms, or until its hand-over deadline has passed on our clock: since we became first in the line, or for a shard
/// since we have seen that the node of its owner's member is gone. If the record says that the predecessor has died,
/// only its aftermath is waited for, from when we have first seen that. Errors: `operation_aborted` (gave up), why the
/// seat was lost, `foreign_data`, `no_auth`.
awaitable<outcome<term_ptr>> take_over(take_over_request what);

}  // namespace zkrecipes::detail
