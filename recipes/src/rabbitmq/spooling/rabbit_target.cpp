#include "rabbitmq/spooling/rabbit_target.hpp"

#include <stdexcept>
#include <utility>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/given_numbers.hpp"
#include "rabbitmq/producer_name.hpp"
#include "rabbitmq/queue_limits.hpp"
#include "rabbitmq/rabbit_core.hpp"

namespace zkrecipes::detail {

namespace {

const rabbit_frame_ptr& frame_of(const rabbit_queues& queues) {
  if (queues.get_core()) return queues.get_core()->frame();
  throw std::invalid_argument("spool_into: queues that were made by default take nothing");
}

}  // namespace

rabbit_target::rabbit_target(const rabbit_queues& into, const std::string& name) : frame_(frame_of(into)) {
  require_producer_name(name);
  producer_ = rabbit_producer_state::make(frame_, name, std::make_unique<given_numbers>(frame_));
}

std::string rabbit_target::identity() const {
  const auto& options = frame_->options;
  return path() + " (RabbitMQ: " + options.queue + ", " + std::to_string(options.shards) + " shards)";
}

error_code rabbit_target::check(const spool_row& what) const {
  return is_too_large_for_queue(what.key, what.data) ? errc::too_large : error_code();
}

spool_outage rabbit_target::outage() const {
  if (!producer_->has_begun()) {
    if (frame_->broker.session->connected()) return {};
    return {errc::connection_loss, "the session has no connection: check the ensemble and the network"};
  }
  auto words = producer_->hindrance();
  if (words.empty()) return {};
  return {rabbit_errc::unavailable, std::move(words)};
}

void rabbit_target::last(handler done) {
  asio::post(frame_->broker.session->strand(),
             [done = std::move(done)] { done(asio::error::operation_not_supported, 0); });
}

void rabbit_target::put(std::vector<spool_row> what, handler done) {
  const message_number first{what.front().origin, what.front().number, 0};
  std::vector<topic_message> all;
  all.reserve(what.size());
  for (auto& each : what) all.push_back({std::move(each.key), std::move(each.data)});
  producer_->put_numbered(asio::bind_executor(frame_->broker.session->strand(), std::move(done)), std::move(all),
                          first);
}

}  // namespace zkrecipes::detail
