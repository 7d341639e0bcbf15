// What tells a message of a producer from all others in its queue.
#pragma once

#include <cstdint>

namespace zkrecipes::detail {

struct message_number {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;
  /// The numbers from this one on, up to that of the message, are those of messages that went to other queues, or were
  /// not put. So the consumer remembers a range, where numbers have holes. That of the message itself: nothing is known
  /// of those in front of it. 0: they are all in this queue.
  std::uint64_t first = 0;
};

}  // namespace zkrecipes::detail
