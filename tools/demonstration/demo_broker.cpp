#include "demo_broker.hpp"

#include <algorithm>
#include <chrono>

#include "rabbit_demo_broker.hpp"
#include "redis_demo_broker.hpp"

namespace demo {

std::unique_ptr<demo_broker> make_broker(const direction& how) {
  using namespace std::chrono_literals;
  const auto found = std::ranges::find_if(how.sources, has_broker);
  if (found == how.sources.end()) return nullptr;
  // It starts beside all processes on a busy machine.
  if (*found == source_kind::redis) return std::make_unique<redis_demo_broker>(2min);
  return std::make_unique<rabbit_demo_broker>(how.broker_nodes, 5min);
}

}  // namespace demo
