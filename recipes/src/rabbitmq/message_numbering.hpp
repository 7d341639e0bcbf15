// How the messages of a producer get their numbers.
#pragma once

#include <cstdint>

#include "rabbitmq/message_number.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// On the strand.
class message_numbering {
 public:
  virtual ~message_numbering() = default;

  /// What has to be done in ZooKeeper before a message gets a number.
  virtual awaitable<error_code> begin() = 0;
  virtual bool has_begun() const noexcept = 0;
  /// For the next message, which goes to this queue. `given`: what the caller has for it, if anything.
  virtual message_number next(std::uint32_t shard, const message_number& given) = 0;
  /// The message of this queue with this number was not put, and its numbers from `first` on are those of none. 0: it
  /// may be put. No message with a higher number is on its way, but some may have been put.
  virtual void skip(std::uint32_t shard, std::uint64_t number, std::uint64_t first) = 0;
  /// Messages keep their numbers when the producer ends: the next one puts again what this one has not put.
  virtual bool are_lasting() const noexcept = 0;
  /// All puts have failed, and it is not known what was put.
  virtual void fail() = 0;
};

}  // namespace zkrecipes::detail
