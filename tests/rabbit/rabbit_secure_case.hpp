// A case with a broker that listens for TLS, and producers.
#pragma once

#include "brokers/secure_case.hpp"
#include "rabbit/producer_case.hpp"

namespace zkrecipes::test {

inline testcluster::rabbit_broker& secure_rabbit() {
  static testcluster::rabbit_broker broker({.password = "open sesame", .tls = true});
  return broker;
}

struct rabbit_secure_case : secure_case<producer_case> {
  rabbit_secure_case() : secure_case(&secure_rabbit, "open sesame") {
    with.password = "open sesame";
    begin_with_tls();
  }
};

}  // namespace zkrecipes::test
