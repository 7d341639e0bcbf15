// A topic whose shards are worked off by several processes.
#pragma once

#include <cstdint>
#include <string>

#include "delivery_result.hpp"
#include "parts.hpp"
#include "topic_rounds.hpp"

namespace bench {

/// Each process works off as many shards. The time is that from the start of all to the last commit of the last.
delivery_result consume_as_team(const plan& what, const topic_backlog& backlog, std::uint32_t processes);

/// One of the processes: says that it is ready, waits for a line with the number of messages of its shards, and prints
/// the number of its commits when it has settled all of them.
void consume_share(const std::string& hosts, std::uint32_t shards, std::uint32_t first, std::uint32_t count);

}  // namespace bench
