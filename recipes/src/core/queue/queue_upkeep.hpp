// Operators ask how a queue stands, and put dead letters and parked keys back. No query writes.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <zkrecipes/queue_base.hpp>

#include "queue/capacity.hpp"
#include "queue/queue_frame.hpp"
#include "queue/server_clock.hpp"

namespace zkrecipes::detail {

awaitable<outcome<std::size_t>> count_items(shared_frame of);
/// The age of the first item is by the leader's clock if `clock` knows it by now, else by our own.
awaitable<outcome<queue_status>> read_status(shared_frame of, std::shared_ptr<const server_clock> clock);
/// Puts the item and removes the letter in one transaction, with the same limit as other puts.
awaitable<outcome<>> revive_letter(shared_frame of, std::shared_ptr<capacity> limits, dead_letter which);
awaitable<outcome<std::vector<parked_key>>> read_parked_keys(shared_frame of);
awaitable<outcome<std::size_t>> revive_key(shared_frame of, parked_key which);

}  // namespace zkrecipes::detail
