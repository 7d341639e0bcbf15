// The connection of one consumer, producer or inquiry to RabbitMQ.
#pragma once

#include "broker/broker_connection.hpp"
#include "rabbitmq/rabbit_frame.hpp"
#include "rabbitmq/rabbit_link.hpp"

namespace zkrecipes::detail {

/// On the strand. `changed` is notified, too, when the broker asks for a pause or ends it (`amqp_client::wants_pause`).
class rabbit_connection final : public broker_connection {
 public:
  explicit rabbit_connection(rabbit_frame_ptr frame, retries with = retries::none);

  /// The link of now; null when it is not up. It stays until the next suspension only: ask again after each wait.
  rabbit_link* link() const noexcept;
  /// Why the link has ended; no error while it is up, and after `close` and `give_up`.
  error_code why() const noexcept;
  /// The same in words.
  std::string words() const;

 private:
  std::shared_ptr<broker_link> make_link(std::unique_ptr<backend::broker_stream> over,
                                         std::function<void()> changed) override;
  awaitable<error_code> greet(lease_clock::time_point deadline) override;

  rabbit_frame_ptr frame_;
};

}  // namespace zkrecipes::detail
