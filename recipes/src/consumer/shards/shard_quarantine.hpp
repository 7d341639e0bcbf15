// Puts a shard in quarantine: it is not assigned to anybody until it is released.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <zkrecipes/lease_clock.hpp>

#include "election/term_record.hpp"
#include "group/children_view.hpp"
#include "line/own_node.hpp"
#include "session/operation.hpp"
#include "shards/group_frame.hpp"

namespace zkrecipes::detail {

/// When the quarantines of shards end by themselves.
/// A quarantine lasts for a while from when the planner has seen it; a new planner counts anew. Each that follows the
/// one before without progress of the shard lasts twice as long. On the strand.
class quarantine_terms {
 public:
  explicit quarantine_terms(std::chrono::milliseconds calm) : calm_(calm) {}

  struct ended {
    std::string name;  ///< The name of the node.
    std::int32_t version;
  };
  /// Those that are over. `next`: when that will be so of another one, if that is earlier.
  std::vector<ended> look(const children_snapshot& present, lease_clock::time_point now, lease_clock::time_point& next);

 private:
  std::chrono::milliseconds length_of(const std::string& data) const;

  std::chrono::milliseconds calm_;
  std::map<std::int64_t, lease_clock::time_point> since_;  // by the transaction that made the node
};

// How often owners have failed with a shard, and when that is the fault of the shard.

/// Counts a term that has ended by a failure of this member at this time of the servers' clock (0: it is not known). At
/// most one of each member counts in each `calm`, because an outage that lasts a moment fails many times. One of
/// another member counts at once: a shard that kills its owners is stopped before it has taken all of them.
void count_owner_failure(term_record& record, const std::string& member, std::int64_t at_ms,
                         std::chrono::milliseconds calm);

/// How many failures put the shard in quarantine. A member that is the only one to fail with it may be at fault itself,
/// so it takes three times as many.
std::int64_t failures_needed(const term_record& record, std::int32_t quarantine_after);

/// Begins a term and ends it, with so many deaths that the next one puts it in quarantine again, and makes the node
/// that says so: one transaction, under the version of the record. The leader of the term `ended_epoch` is known to be
/// gone, or to have finished. Errors: as the servers say; `bad_version` if another term has begun.
awaitable<error_code> put_in_quarantine(group_frame_ptr group, own_node_ptr member, std::uint32_t shard,
                                        std::int64_t ended_epoch);

/// Ends the quarantine of a shard, and forgets the deaths that its record names.
transaction release_of(const group_layout& where, std::uint32_t shard, const backend::reply& record);

/// The data of the node in quarantine.
struct quarantine_record {
  std::int64_t deaths = 0;
  std::string last{};       ///< The id of the last owner.
  std::int64_t before = 0;  ///< How many quarantines of the shard came before, without progress in between.
};

std::string serialize(const quarantine_record& record);
/// Fields that are missing are empty: the node itself is what counts.
quarantine_record parse_quarantine(const std::string& data);

}  // namespace zkrecipes::detail
