// The broker's end of a connection: AMQP 0-9-1 as far as our client speaks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "model/rabbit/quorum_queue.hpp"
#include "model/rabbit/rabbit_cluster.hpp"
#include "rabbitmq/amqp_content.hpp"
#include "rabbitmq/amqp_frame_reader.hpp"
#include "rabbitmq/amqp_handshake.hpp"
#include "world/broker_network.hpp"

namespace zkrecipes::simulation {

/// One channel. A request that needs the leader of a queue holds up those behind it, as in RabbitMQ.
class rabbit_peer final : public wire_end, public queue_user, public std::enable_shared_from_this<rabbit_peer> {
 public:
  rabbit_peer(rabbit_cluster& of, int node, broker_wire_ptr over);

  int node() const noexcept { return node_; }
  bool is_alive() const override { return !is_over_; }
  void begin();

  /// Goes on with what was held up.
  void wake();
  void crash(bool is_told);
  /// Lets go of all queues.
  void detach();
  void on_alarm();
  /// The next message into this queue that is taken is not confirmed.
  void forget_next_confirm(const quorum_queue& which);

 private:
  enum class step { protocol, start, tune, open, channel, none };
  /// What the channel has found at its first message into a queue.
  enum class footing { good, bad };
  struct given {
    quorum_queue_ptr from;
    std::uint64_t checkout = 0;
    rabbit_message_ptr what{};
  };
  /// A request that waits until the queue has a leader.
  struct held_request {
    quorum_queue_ptr at;
    std::uint32_t method = 0;
    std::function<void()> then{};
  };

  // Bytes.
  void receive(std::string_view bytes) override;
  void lose(const error_code& why) override;
  void go_on();
  bool is_held() const;
  void flush();
  void end();
  void check_heartbeats();

  // Frames.
  bool take_protocol();
  void take(const detail::amqp_frame& frame);
  void take_method(std::uint32_t number, std::uint16_t channel, std::string_view arguments);
  void shake_hands(std::uint32_t number, std::string_view arguments);
  void greet();
  void take_of_channel(std::uint32_t number, std::string_view arguments);
  void take_behind_end(std::uint32_t number);
  void close_channel(std::uint16_t code, const std::string& text, std::uint32_t method);
  void misbehave(const std::string& how);
  template <class Fields>
  void say(std::uint32_t number, Fields fields, std::size_t texts = 0) {
    writer_.method(1, number, &fields, texts);
  }

  // Queues.
  void declare(std::string_view arguments);
  void consume(std::string_view arguments);
  void acknowledge(std::string_view arguments);
  void with_leader(quorum_queue_ptr of, std::uint32_t method, std::function<void()> then);
  void answer_declaration(const quorum_queue& of);
  void deliver(std::uint64_t checkout, const rabbit_message_ptr& what) override;
  void lose_queue(const quorum_queue& which) override;
  void leave_queues();

  // Publishing.
  void publish(detail::amqp_delivery what);
  void give_back(const detail::amqp_delivery& what);
  bool is_rejected(const quorum_queue& into);
  void record_taken(const std::string& queue, std::uint64_t tag);
  void reject(std::uint64_t tag);
  void send_confirms();
  void confirm(std::uint64_t tag, bool is_multiple);

  rabbit_cluster& all_;
  int node_;
  broker_wire_ptr wire_;
  chance chance_;
  std::string input_;  // not read yet
  detail::amqp_frame_reader frames_;
  detail::amqp_writer writer_;
  detail::amqp_memory memory_;
  detail::amqp_content content_{"key"};
  step awaited_ = step::protocol;
  span heartbeat_{0};
  instant heard_{0};
  instant spoken_{0};
  bool is_over_ = false;
  bool is_channel_closed_ = false;
  bool is_told_of_alarm_ = false;
  std::optional<held_request> held_;
  std::uint64_t requests_held_ = 0;

  std::size_t prefetch_ = 0;
  quorum_queue_ptr consumed_;
  bool awaits_consumer_ = false;  // the queue does not have it yet
  std::set<quorum_queue_ptr> used_;
  std::uint64_t delivered_ = 0;
  std::map<std::uint64_t, given> given_;  // by tag

  bool confirms_ = false;
  std::string routing_;     // of the message that is coming
  std::string properties_;  // the same
  std::uint64_t published_ = 0;
  std::map<std::string, footing> footings_;           // by queue
  std::map<std::uint64_t, std::string> unconfirmed_;  // the queue, by tag
  std::set<std::uint64_t> taken_;                     // of these, what is in its queue and not forgotten
  std::set<std::string> forgetting_;                  // queues
};

}  // namespace zkrecipes::simulation
