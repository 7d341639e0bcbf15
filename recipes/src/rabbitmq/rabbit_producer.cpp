#include <memory>
#include <stdexcept>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <zkrecipes/rabbitmq/rabbit_producer.hpp>

#include "rabbitmq/message_numbering.hpp"
#include "rabbitmq/rabbit_core.hpp"
#include "rabbitmq/rabbit_producer_state.hpp"
#include "session/operation.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

/// Tells the error only.
topic_caller::handler without_number(const scheduler& on, handler_for<void(error_code)> h) {
  auto slot = asio::get_associated_cancellation_slot(h);
  auto executor = handler_executor(h, on.base);
  auto adapted = [h = std::move(h)](error_code error, std::uint64_t) mutable { std::move(h)(error); };
  return asio::bind_cancellation_slot(std::move(slot), asio::bind_executor(std::move(executor), std::move(adapted)));
}

}  // namespace

rabbit_producer::rabbit_producer(const rabbit_queues& into, std::string name) : session_(into.get_session()) {
  require_producer_name(name);
  if (!into.get_core()) throw std::invalid_argument("rabbit_producer: queues that were made by default take nothing");
  const auto frame = frame_of<rabbit_frame>(into);
  auto numbers = std::make_unique<claimed_numbers>(frame, name);
  state_ = rabbit_producer_state::make(frame, std::move(name), std::move(numbers));
}

void rabbit_producer::start_put(handler_for<void(error_code)> h, state_ptr state, std::string key, std::string data) {
  auto caller = without_number(*state->get_scheduler(), std::move(h));
  state->put(std::move(caller), {std::move(key), std::move(data)});
}

void rabbit_producer::start_put_all(handler_for<void(error_code, std::uint64_t)> h, state_ptr state,
                                    std::vector<topic_message> messages) {
  state->put_all(std::move(h), std::move(messages));
}

}  // namespace zkrecipes
