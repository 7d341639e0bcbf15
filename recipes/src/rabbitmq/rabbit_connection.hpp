// The connection of one consumer, producer or inquiry to RabbitMQ.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/world.hpp"
#include "broker/broker_connection.hpp"
#include "rabbitmq/amqp_client.hpp"
#include "rabbitmq/rabbit_frame.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

/// One connection to RabbitMQ, with one channel.
/// It is up once the channel is open. It carries the bytes of an `amqp_client`, and keeps the heartbeats of both sides.
/// On the strand. Handlers must only take note; they may call `acknowledge`. Requests are carried out in their order.
/// Requests to a link that is not up are answered with `unavailable` at once.
class rabbit_link final : public broker_link, public std::enable_shared_from_this<rabbit_link> {
 public:
  /// Called once, but not after `abandon`. If the link ends before the answer: the request that the broker has refused
  /// is answered with the reason, and the others with `unavailable`.
  using answer_handler = amqp_client::answer_handler;
  using delivery_handler = amqp_client::delivery_handler;
  using confirm_handler = amqp_client::confirm_handler;
  using return_handler = amqp_client::return_handler;

  /// `changed`: called when the link is up, when it has ended, and when `client().wants_pause()` changes. It must only
  /// take note. Without a stream `connect` fails.
  rabbit_link(scheduler_ptr on, std::unique_ptr<backend::broker_stream> over, amqp_settings settings,
              std::function<void()> changed);
  ~rabbit_link() override;

  void connect(const backend::endpoint& broker) override;
  bool is_up() const noexcept override { return is_up_; }
  bool is_over() const noexcept override { return is_over_; }
  const std::string& reason() const noexcept override { return reason_; }
  /// `unavailable`: the connection is lost, or the broker has closed it for a reason that may pass. `missing_queue`,
  /// `other_queue`, `refused_credentials`, `refused`: the broker has closed it. `unexpected_reply`. With a broker that
  /// has closed it `reason` has its words.
  error_code why() const noexcept override { return why_; }
  lease_clock::time_point last_passed() const noexcept override { return passed_; }
  void abandon() override;

  /// What the broker has said: its version, when the link is up, and whether it asks for a pause.
  const amqp_client& client() const noexcept { return client_; }

  /// Makes a durable quorum queue with a single active consumer, or finds it. Error: `other_queue`, which ends the
  /// link; if the queue has another limit, `amqp_answer::standing` is that.
  void declare(const std::string& queue, const delivery_limit& limit, answer_handler then);
  /// Counts the messages and consumers of a queue. Error: `missing_queue`, which ends the link.
  void look_at(const std::string& queue, answer_handler then);
  /// The same, but a missing queue does not end a link that neither delivers nor publishes: the channel is opened anew.
  /// Requests behind it that were sent by then are answered with `unavailable`, because the broker does not read them.
  void count(const std::string& queue, answer_handler then);
  /// Delivers at most `prefetch` messages that are not acknowledged. At most one consumer a link. Error:
  /// `missing_queue`. That the broker ends the consumer later (the queue was deleted, or has another leader) ends the
  /// link with `unavailable`.
  void consume(const std::string& queue, std::uint16_t prefetch, delivery_handler each, answer_handler then);
  /// `is_multiple`: all up to this tag.
  void acknowledge(std::uint64_t tag, bool is_multiple);
  /// Asks for confirms of what is published; to be called before the first `publish`. `returned`: no queue has the name
  /// that this message went to; it is called before the confirm of the message.
  void confirm(confirm_handler confirmed, return_handler returned, answer_handler then);
  /// Puts a persistent message into a queue. Returns its tag: 1, 2, ... on this link; 0 if the link is not up. `id`: at
  /// most 255 bytes, not empty, and unique among those that are not confirmed. `first`: see `message_number`.
  std::uint64_t publish(const std::string& queue, const std::string& id, const std::string& key,
                        const std::string& data, std::uint64_t first = 0);
  /// Bytes that wait to be written.
  std::size_t unsent() const noexcept;

 private:
  void read();
  void flush();
  void end(const error_code& why, const std::string& reason);
  void update_state();
  void part();
  void arm_timer();
  void check_heartbeats();
  void stop_timer();

  scheduler_ptr scheduler_;
  std::unique_ptr<backend::broker_stream> stream_;
  amqp_client client_;
  std::function<void()> changed_;
  std::vector<char> received_;
  std::string sending_;  // what the stream is being given
  bool is_connected_ = false;
  bool is_up_ = false;
  bool is_over_ = false;
  bool was_paused_ = false;  // when `changed_` was called last
  error_code why_;
  std::string reason_;
  lease_clock::time_point heard_{};   // when the last bytes came
  lease_clock::time_point passed_{};  // see `last_passed`
  lease_clock::time_point spoken_{};  // when the last bytes were given to the stream
  backend::timer_id timer_ = 0;
};

/// On the strand. `changed` is notified, too, when the broker asks for a pause or ends it (`amqp_client::wants_pause`).
class rabbit_connection final : public broker_connection {
 public:
  explicit rabbit_connection(rabbit_frame_ptr frame, retries with = retries::none);

  /// The link of now; null when it is not up. It stays until the next suspension only: ask again after each wait.
  rabbit_link* link() const noexcept;
  /// Why the link has ended; no error while it is up, and after `close` and `give_up`.
  error_code why() const noexcept;
  /// Why the link has ended, in words.
  std::string words() const;

 private:
  std::shared_ptr<broker_link> make_link(std::unique_ptr<backend::broker_stream> over,
                                         std::function<void()> changed) override;
  awaitable<error_code> greet(lease_clock::time_point deadline) override;

  rabbit_frame_ptr frame_;
};

}  // namespace zkrecipes::detail
