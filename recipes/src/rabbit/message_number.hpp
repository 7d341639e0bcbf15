// What tells a message of a producer from all others in its queue.
#pragma once

#include <cstdint>

namespace zkrecipes::detail {

struct message_number {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;
  /// The numbers from this one on, up to that of the message, are those of messages that went to other queues. So the
  /// consumer remembers a range, where numbers have holes. 0: there are none.
  std::uint64_t first = 0;
};

}  // namespace zkrecipes::detail
