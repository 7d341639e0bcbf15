// A case with a broker that listens for TLS.
#pragma once

#include "brokers/secure_case.hpp"
#include "redis/redis_case.hpp"

namespace zkrecipes::test {

struct redis_secure_case : secure_case<redis_case> {
  redis_secure_case() {
    use_own_broker({.tls = true});
    begin_with_tls();
  }
};

}  // namespace zkrecipes::test
