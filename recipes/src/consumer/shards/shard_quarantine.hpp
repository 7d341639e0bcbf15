// Puts a shard in quarantine: it is not assigned to anybody until it is released.
#pragma once

#include <cstdint>

#include "line/own_node.hpp"
#include "session/operation.hpp"
#include "shards/group_frame.hpp"

namespace zkrecipes::detail {

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
