// How often owners have failed with a shard, and when that is the fault of the shard.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "election/term_record.hpp"

namespace zkrecipes::detail {

/// Counts a term that has ended by a failure of this member at this time of the servers' clock (0: it is not known). At
/// most one of each member counts in each `calm`, because an outage that lasts a moment fails many times. One of
/// another member counts at once: a shard that kills its owners is stopped before it has taken all of them.
void count_owner_failure(term_record& record, const std::string& member, std::int64_t at_ms,
                         std::chrono::milliseconds calm);

/// How many failures put the shard in quarantine. A member that is the only one to fail with it may be at fault itself,
/// so it takes three times as many.
std::int64_t failures_needed(const term_record& record, std::int32_t quarantine_after);

}  // namespace zkrecipes::detail
