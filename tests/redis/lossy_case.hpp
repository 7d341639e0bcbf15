// Cases with a broker that loses messages.
#pragma once

#include "redis/redis_case.hpp"

namespace zkrecipes::test {

/// `Case`: a `redis_case`. All that is put behind the SAVE is lost by a kill.
template <class Case>
struct lossy_case : Case {
  lossy_case() { this->use_own_broker({.durability = testcluster::redis_durability::none}); }

  void lose_what_was_put_since_the_save() {
    this->kill_broker();
    this->start_broker();
  }
};

}  // namespace zkrecipes::test
