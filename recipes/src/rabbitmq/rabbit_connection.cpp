#include "rabbitmq/rabbit_connection.hpp"

#include <utility>

namespace zkrecipes::detail {

rabbit_connection::rabbit_connection(rabbit_frame_ptr frame, retries with)
    : broker_connection(broker_frame_ptr(frame, &frame->broker), with), frame_(std::move(frame)) {}

std::shared_ptr<broker_link> rabbit_connection::make_link(std::unique_ptr<backend::broker_stream> over,
                                                          std::function<void()> changed) {
  const auto& options = frame_->options;
  amqp_settings settings;
  settings.user = options.user;
  settings.password = options.password;
  settings.virtual_host = options.virtual_host;
  settings.heartbeat = options.heartbeat;
  settings.key_header = options.key_header;
  const auto& scheduler = frame_->broker.session->get_scheduler();
  return std::make_shared<rabbit_link>(scheduler, std::move(over), std::move(settings), std::move(changed));
}

/// The link has done it all before it is up.
awaitable<error_code> rabbit_connection::greet(lease_clock::time_point) { co_return error_code(); }

rabbit_link* rabbit_connection::link() const noexcept {
  return is_up() ? static_cast<rabbit_link*>(present_link()) : nullptr;
}

error_code rabbit_connection::why() const noexcept {
  const auto* link = present_link();
  return link && link->is_over() ? link->why() : error_code();
}

std::string rabbit_connection::words() const {
  const auto* link = present_link();
  return link ? link->reason() : std::string();
}

}  // namespace zkrecipes::detail
