// Follows the records of shards that are on their way to a new owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "session/core.hpp"
#include "session/operation.hpp"
#include "shards/group_frame.hpp"
#include "shards/shard_assignment.hpp"

namespace zkrecipes::detail {

class moving_shards {
 public:
  /// `changed` is notified when one of the records has changed.
  moving_shards(group_frame_ptr group, condition& changed) : group_(std::move(group)), changed_(changed) {}

  /// Looks at the records of the shards that are on their way and may have changed since the last look. Notes in `plan`
  /// those whose owner to be has begun its term, and those that have had no owner for so long that the owner to be has
  /// some trouble. `next`: when that will be told of another one, if that is earlier. One round trip.
  awaitable<error_code> look(shard_assignment& plan, lease_clock::time_point& next);

 private:
  struct slot {
    std::unique_ptr<watch> hint;
    std::string owner;  ///< The member's node that the record names.
    std::string to;     ///< The owner to be.
    lease_clock::time_point free_since = never;
  };

  awaitable<error_code> read(std::vector<std::uint32_t> shards);
  error_code accept(std::uint32_t shard, const backend::reply& node);

  group_frame_ptr group_;
  condition& changed_;
  std::map<std::uint32_t, slot> slots_;
};

}  // namespace zkrecipes::detail
