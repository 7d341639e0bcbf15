#include <stdexcept>
#include <utility>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

#include "topic/topic_core.hpp"
#include "topic/topic_producer_state.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

void check(const topic_producer_options& options) {
  using namespace std::chrono_literals;
  const auto require = [](bool is_good, const char* option, const char* bounds) {
    if (!is_good)
      throw std::invalid_argument(std::string("topic_producer_options::") + option + ": it must be " + bounds);
  };
  require(options.max_batch >= 1 && options.max_batch <= 10'000, "max_batch", "1 to 10 000");
  require(options.max_bytes >= 1024 && options.max_bytes <= 512 * 1024, "max_bytes", "1 KiB to 512 KiB");
  require(options.linger >= 0ms && options.linger <= 60s, "linger", "0 to 60 s");
}

}  // namespace

topic_producer::topic_producer(const topic& into, std::string name, topic_producer_options options)
    : session_(into.get_session()) {
  require_name("producer name", name);
  check(options);
  if (!into.get_core()) throw std::invalid_argument("topic_producer: a topic that was made by default takes nothing");
  state_ = std::make_shared<topic_producer_state>(frame_of<topic_frame>(into), name, options);
}

const std::string& topic_producer::path() const noexcept { return state_ ? state_->path() : no_path(); }

const topic_producer_options& topic_producer::options() const noexcept {
  static const topic_producer_options defaults;
  return state_ ? state_->options() : defaults;
}

void topic_producer::start_put(handler_for<void(error_code, std::uint64_t)> h, state_ptr state, std::string key,
                               std::string data) {
  state->put(std::move(h), {std::move(key), std::move(data)});
}

void topic_producer::start_put_all(handler_for<void(error_code, std::uint64_t)> h, state_ptr state,
                                   std::vector<topic_message> messages) {
  state->put_all(std::move(h), std::move(messages));
}

void topic_producer::start_last(handler_for<void(error_code, std::uint64_t)> h, state_ptr state) {
  launch(std::move(h), std::move(state), &topic_producer_state::last);
}

}  // namespace zkrecipes
