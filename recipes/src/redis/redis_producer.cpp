#include <stdexcept>
#include <utility>

#include <boost/asio/post.hpp>

#include <zkrecipes/redis/redis_producer.hpp>

#include "redis/redis_core.hpp"
#include "redis/redis_producer_state.hpp"
#include "session/paths.hpp"

namespace zkrecipes {

using namespace detail;

redis_producer::redis_producer(const redis_streams& into, std::string name) : session_(into.get_session()) {
  require_id("producer name", name);
  if (name.find('/') != name.npos) throw std::invalid_argument("producer name: it must not contain '/'");
  if (!into.get_core()) throw std::invalid_argument("redis_producer: streams that were made by default take nothing");
  const auto real = std::make_shared<redis_producer_state>(frame_of<redis_frame>(into), name);
  state_ = state_ptr(real.get(), [real](redis_producer_state*) {
    asio::post(real->get_scheduler()->strand, [real] { real->leave(); });
  });
}

void redis_producer::start_put(handler h, state_ptr state, std::string key, std::string data) {
  state->put(std::move(h), {std::move(key), std::move(data)});
}

void redis_producer::start_put_all(handler h, state_ptr state, std::vector<topic_message> messages) {
  state->put_all(std::move(h), std::move(messages));
}

void redis_producer::start_last(handler h, state_ptr state) { state->ask_last(std::move(h)); }

}  // namespace zkrecipes
