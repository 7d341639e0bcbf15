// Is told what happens in the broker.
#pragma once

#include <string>
#include <vector>

#include "model/rabbit/rabbit_message.hpp"

namespace zkrecipes::simulation {

class rabbit_observer {
 public:
  using messages = std::vector<rabbit_message_ptr>;

  /// The message is in its queue from now on.
  virtual void queued(const std::string& queue, const rabbit_message& what) = 0;
  virtual void delivered(const std::string& queue, const rabbit_message& what) = 0;
  /// An acknowledgement has arrived.
  virtual void acknowledged(const std::string& queue, const rabbit_message& what) = 0;
  /// It is not in its queue any more, because it was acknowledged.
  virtual void removed(const std::string& queue, const rabbit_message& what) = 0;
  /// It has come back too often, and is gone.
  virtual void dropped(const std::string& queue, const rabbit_message& what) = 0;
  /// An operator has deleted the queue, with these messages.
  virtual void deleted(const std::string& queue, const messages& all) = 0;
  /// The queue is there from now on; a client or an operator has declared it.
  virtual void appeared(const std::string& queue) = 0;
  /// A client has made the queue. `is_present`: the connection is not closed at the client's end.
  virtual void made(const std::string& queue, int client, bool is_present) = 0;
  /// A consumer was added to the queue.
  virtual void consumed(const std::string& queue) = 0;
  /// A client breaks the protocol.
  virtual void misbehaved(int client, const std::string& how) = 0;

 protected:
  ~rabbit_observer() = default;
};

}  // namespace zkrecipes::simulation
