// The connection to the guardian of this machine, as the seam shows it.
#pragma once

#include "backend/guardian/guardian_message.hpp"

namespace zkrecipes::backend {

/// Its destructor ends the connection at once.
class guardian_line {
 public:
  virtual ~guardian_line() = default;
  /// False if the message can not be told, because it has something that a guardian would refuse. Then nothing is sent.
  virtual bool send(const guardian_message& what) = 0;
  /// The last call: nobody is told anything any more. The connection ends when the guardian has taken what was sent, or
  /// after a second.
  virtual void finish() {}
  /// The last call: the guardian does not answer. One that belongs to us is killed.
  virtual void give_up() {}
};

}  // namespace zkrecipes::backend
