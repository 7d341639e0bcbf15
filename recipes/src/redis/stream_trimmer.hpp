// Decides what of a stream nobody needs any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "redis/redis_frame.hpp"
#include "redis/stream_id.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// What all groups of `redis_options::groups` have consumed, as their positions say. Positions only grow, so it does no
/// harm if a consumer whose term is over trims, too. The last entry that was consumed stays, because it tells after a
/// restart of the broker that the stream is still the same. On the strand.
class stream_trimmer {
 public:
  stream_trimmer(redis_frame_ptr frame, std::uint32_t shard, std::string group);

  void reset();
  /// All up to this entry is consumed and committed by our group.
  void note_consumed(const stream_id& last) { consumed_ = last; }
  /// The first entry to keep, if something is to be removed now. Looks from time to time only. Positions of other
  /// groups are read; if that fails, nothing is removed.
  awaitable<std::optional<stream_id>> first_to_keep();

 private:
  awaitable<std::optional<stream_id>> least_of_groups();

  redis_frame_ptr frame_;
  std::uint32_t shard_;
  std::string group_;
  stream_id consumed_{};
  stream_id seen_{};  // what was consumed as of the last look
  lease_clock::time_point next_look_{};
};

}  // namespace zkrecipes::detail
