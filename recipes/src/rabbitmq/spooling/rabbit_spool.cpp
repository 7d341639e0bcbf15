#include <memory>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_spool.hpp>

#include "rabbitmq/spooling/rabbit_target.hpp"
#include "spool/make_spool.hpp"
#include "spool/spool_state.hpp"

namespace zkrecipes {

using namespace detail;

spooled_producer spool_into(const rabbit_queues& into, std::string name, spool_options options) {
  spool_state::check(options);
  auto target = std::make_unique<rabbit_target>(into, name);
  return spooled_producer(make_spool(into.get_session(), name, std::move(options), std::move(target)));
}

}  // namespace zkrecipes
