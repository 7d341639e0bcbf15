// The number that tells the messages of one life of a producer from those of another.
#pragma once

#include <cstdint>
#include <string>

#include "rabbitmq/rabbit_frame.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Writes the producer's record, and returns the number of the transaction that did it: nobody else gets it, and each
/// later one is larger. Errors: those of `agree_on_queues`; `foreign_data` (there is a record that is no producer's),
/// and those of `core::perform`.
awaitable<outcome<std::uint64_t>> claim_epoch(rabbit_frame_ptr frame, std::string name);

}  // namespace zkrecipes::detail
