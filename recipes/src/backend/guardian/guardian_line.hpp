// The connection to the guardian of this machine, as the seam shows it.
#pragma once

#include "backend/guardian/guardian_message.hpp"

namespace zkrecipes::backend {

/// Its destructor ends the connection; what was sent before arrives if the guardian reads.
class guardian_line {
 public:
  virtual ~guardian_line() = default;
  /// False if the message can not be told, because it has something that a guardian would refuse. Then nothing is sent.
  virtual bool send(const guardian_message& what) = 0;
};

}  // namespace zkrecipes::backend
