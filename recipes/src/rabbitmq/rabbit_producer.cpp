#include <memory>
#include <stdexcept>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_producer.hpp>

#include "rabbitmq/message_numbering.hpp"
#include "rabbitmq/rabbit_core.hpp"
#include "rabbitmq/rabbit_producer_state.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

/// Checks the arguments.
std::shared_ptr<rabbit_producer_state> state_of(const rabbit_queues& into, std::string name) {
  require_producer_name(name);
  if (!into.get_core()) throw std::invalid_argument("rabbit_producer: queues that were made by default take nothing");
  const auto frame = frame_of<rabbit_frame>(into);
  auto numbers = std::make_unique<claimed_numbers>(frame, name);
  return leaving_handle(std::make_shared<rabbit_producer_state>(frame, std::move(name), std::move(numbers)));
}

}  // namespace

rabbit_producer::rabbit_producer(const rabbit_queues& into, std::string name)
    : producer_base(into.get_session(), state_of(into, std::move(name))) {}

const rabbit_options& rabbit_producer::options() const noexcept {
  return options_of_producer<rabbit_producer_state>(*this);
}

}  // namespace zkrecipes
