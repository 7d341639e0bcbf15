// The failure of a command whose time is over. What it has sent may be executed all the same.
#pragma once

#include "failure.hpp"

namespace zkadmin {

class overdue : public failure {
 public:
  using failure::failure;
};

}  // namespace zkadmin
