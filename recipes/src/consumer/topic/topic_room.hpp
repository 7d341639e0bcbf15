// Whether there is room in the shards of a topic: for names in their lists, and for numbers in the names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "topic/topic_frame.hpp"

namespace zkrecipes::detail {

/// A server sends the names of all batches of a shard in one reply, which must not be larger than clients can read. A
/// shard is looked at behind the first batch that is put there, then behind each 256, and every second while it is
/// full. On the strand.
class topic_room {
 public:
  explicit topic_room(topic_frame_ptr topic) : topic_(std::move(topic)) {}

  /// Why nothing can be put into a shard: `full` or `sequence_exhausted`; clear if there is room.
  error_code refusal(std::uint32_t shard) const;
  /// A batch was put there, with this name.
  void record_batch(std::uint32_t shard, std::string_view name);
  /// Looks at the shards whose time has come. Without an answer they are looked at later.
  awaitable<void> look();

 private:
  struct room {
    std::size_t put = 0;  // since the last look
    bool is_new = true;
    bool is_full = false;
    bool is_used_up = false;
    lease_clock::time_point next_look{};  // while it is full
  };
  bool is_due(const room& which) const;

  topic_frame_ptr topic_;
  std::map<std::uint32_t, room> rooms_;
};

}  // namespace zkrecipes::detail
