#include <memory>
#include <stdexcept>

#include <zkrecipes/redis/redis_producer.hpp>

#include "redis/redis_core.hpp"
#include "redis/redis_producer_state.hpp"
#include "session/paths.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

/// Checks the arguments.
std::shared_ptr<redis_producer_state> state_of(const redis_streams& into, const std::string& name) {
  require_id("producer name", name);
  if (name.find('/') != name.npos) throw std::invalid_argument("producer name: it must not contain '/'");
  if (!into.get_core()) throw std::invalid_argument("redis_producer: streams that were made by default take nothing");
  return leaving_handle(std::make_shared<redis_producer_state>(frame_of<redis_frame>(into), name));
}

}  // namespace

redis_producer::redis_producer(const redis_streams& into, std::string name)
    : producer_base(into.get_session(), state_of(into, name)) {}

const redis_options& redis_producer::options() const noexcept {
  return options_of_producer<redis_producer_state>(*this);
}

}  // namespace zkrecipes
