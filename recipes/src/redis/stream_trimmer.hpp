// Decides what of a stream nobody needs any more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "redis/redis_frame.hpp"
#include "redis/stream_position.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// What all groups of `redis_options::groups` have consumed, as their positions say. The last entry that a group has
/// consumed stays, because it tells after a restart of the broker that the stream is still the same. If it is not in
/// the stream, the broker has lost it, and the group does not know yet: its position says nothing of entries that were
/// put since, and nothing may be removed. On the strand.
class stream_trimmer {
 public:
  stream_trimmer(redis_frame_ptr frame, std::uint32_t shard, std::string group);

  void reset();
  /// All up to this entry is consumed and committed by our group.
  void on_consumed(const stream_id& last) { consumed_ = last; }
  /// The last entries that the groups have consumed, least first, if something is to be removed now; else none. Entries
  /// in front of the least can go if all of them are in the stream, and `is_consumed_by_all` agrees then. Looks from
  /// time to time only. The positions are read; if that fails, nothing is removed.
  awaitable<std::vector<stream_id>> consumed_by_all();
  /// Whether no position is in front of this entry as of this call: somebody may have moved a group back since.
  awaitable<bool> is_consumed_by_all(stream_id last);

 private:
  awaitable<std::vector<stream_id>> read_positions();

  redis_frame_ptr frame_;
  std::uint32_t shard_;
  std::string group_;
  stream_id consumed_{};
  stream_id seen_{};  // what was consumed as of the last look
  lease_clock::time_point next_look_{};
};

}  // namespace zkrecipes::detail
