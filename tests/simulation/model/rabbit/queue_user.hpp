// A channel as a queue knows it.
#pragma once

#include <cstdint>

#include "model/rabbit/rabbit_message.hpp"

namespace zkrecipes::simulation {

class quorum_queue;

/// It consumes the queue, or has put messages into it.
class queue_user {
 public:
  virtual bool is_alive() const = 0;
  /// `checkout`: what the queue knows the delivery by.
  virtual void deliver(std::uint64_t checkout, const rabbit_message_ptr& what) = 0;
  /// The queue was deleted.
  virtual void lose_queue(const quorum_queue& which) = 0;

 protected:
  ~queue_user() = default;
};

}  // namespace zkrecipes::simulation
