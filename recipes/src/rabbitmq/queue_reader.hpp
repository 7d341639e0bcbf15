// Receives the messages of a queue, and acknowledges what is settled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/queue_base.hpp>

#include "rabbitmq/amqp_answer.hpp"
#include "rabbitmq/queue_progress.hpp"
#include "rabbitmq/rabbit_connection.hpp"
#include "session/operation.hpp"
#include "source/log_source.hpp"

namespace zkrecipes::detail {

/// Notices that the broker has forgotten a consumer.
/// RabbitMQ 3.10 can lose a consumer when the leader of its queue changes: the connection stays, and nothing comes. So
/// when nothing has happened for a while, the queue is looked at. If it has messages that could be delivered, at two
/// looks in a row with as long a while between them, in which nothing has happened either, the consumer is lost. It is
/// not asked while the consumer has all messages that it may have. It does no I/O.
class stall_watch {
 public:
  explicit stall_watch(lease_clock::duration time_limit) : time_limit_(time_limit) {}

  /// A message has come, or was acknowledged, or the connection is new.
  void on_event(lease_clock::time_point now) {
    next_look_ = now + time_limit_;
    looks_ = 0;
  }
  lease_clock::time_point next_look() const noexcept { return next_look_; }
  /// The answer to a look.
  void on_look(lease_clock::time_point now, bool has_messages) {
    next_look_ = now + time_limit_;
    looks_ = has_messages ? looks_ + 1 : 0;
  }
  bool is_stalled() const noexcept { return looks_ >= 2; }

 private:
  lease_clock::duration time_limit_;
  lease_clock::time_point next_look_{};
  int looks_ = 0;  // in a row that have found messages
};

/// Tells the log of a queue that drops messages, or may.
class queue_warnings {
 public:
  queue_warnings(rabbit_connection& by, std::string queue) : connection_(by), queue_(std::move(queue)) {}

  /// In a term it is told once of the limit, and of messages that come back; of a standstill until one is settled.
  void begin_term() { has_told_limit_ = has_told_returns_ = false; }
  void on_delivery(const amqp_delivery& what);
  void on_settled() { has_told_standstill_ = false; }
  void log_unknown_limit(const amqp_client& broker);
  bool has_told_standstill() const noexcept { return has_told_standstill_; }
  void log_standstill(std::uint32_t prefetch);
  /// `missing`: see `queue_progress::take_missing`. Outside of the handlers of the link.
  void log_losses(const std::vector<std::string>& missing);

 private:
  void log(log_severity severity, const std::string& words);

  rabbit_connection& connection_;
  std::string queue_;
  bool has_told_limit_ = false;
  bool has_told_returns_ = false;
  bool has_told_standstill_ = false;
  std::string returned_;  // a message that has come back often, and is to be told
};

/// The broker sends up to `prefetch` messages, which are kept until they are received. When a connection ends, those
/// are dropped, and come again by the next one; a message that was handed out stays in hand, and gets the tag of its
/// next delivery. What the memory knows is acknowledged unprocessed. On the strand.
class queue_reader {
 public:
  /// `memory`: the node of the shard. If it is outdated, nothing is received until `open`.
  queue_reader(rabbit_frame_ptr frame, std::uint32_t shard, position_node& memory);

  /// Before `open`.
  void set_order(message_order order);
  /// Forgets everything and ends the connection.
  void open();
  /// The same, but the broker is given a moment to take the last acknowledgements.
  awaitable<void> close();
  /// As those of `message_source`.
  awaitable<outcome<std::vector<message>>> receive(std::size_t most);
  /// From memory. One that has not come yet may still come: it has its name only.
  std::vector<std::optional<message>> read_again(std::vector<std::string> names) const;
  bool can_come(const std::string& name) const { return !is_consuming() || progress_.can_come(name); }
  void let_go() { connection_.close(); }
  /// Everything in hand has to be dropped: the memory was changed by somebody else, or a message without an id is in
  /// hand that the broker has taken back, so that it will come again unknown.
  bool is_outdated() const noexcept {
    return position_.is_outdated() || progress_.is_ambiguous() || (progress_.has_unnamed() && !is_consuming());
  }

  queue_progress& progress() noexcept { return progress_; }
  const queue_progress& progress() const noexcept { return progress_; }
  /// It was committed; the message is to be acknowledged.
  void settle(const std::string& name);
  /// Sends what is to be acknowledged.
  void acknowledge();

 private:
  struct question;
  using question_ptr = std::shared_ptr<question>;

  awaitable<error_code> read_memory();
  awaitable<error_code> get_consumer();
  awaitable<error_code> find_queue();
  awaitable<error_code> consume();
  awaitable<error_code> await_answer(question_ptr to);
  awaitable<error_code> await_more();
  question_ptr make_question(const char* command);
  error_code judge(const question& answered);
  void record_broker();
  void look_for_stall();
  bool is_consuming() const noexcept {
    return consumed_ != 0 && connection_.is_up() && consumed_ == connection_.number();
  }
  void drop_lost();
  void take(amqp_delivery what);
  lease_clock::time_point now() const { return frame_->session->now(); }

  struct ready_message {
    message what;
    bool is_named = true;
  };

  rabbit_frame_ptr frame_;
  std::string queue_;
  std::uint32_t prefetch_;
  position_node& position_;
  condition changed_;
  queue_progress progress_;
  stall_watch stalls_;
  std::deque<ready_message> ready_;
  std::unordered_map<std::string, message> held_;  // handed out and not settled, because the broker gives them once
  std::uint64_t consumed_ = 0;                     // the number of the connection with our consumer; 0: there is none
  delivery_limit limit_ = unreachable_limit;       // what the queue is declared with
  lease_clock::time_point settled_at_{};           // the last time, or when there was nothing to settle
  queue_warnings warnings_;
  question_ptr looking_;          // whether the queue has messages that do not come
  rabbit_connection connection_;  // its handlers refer to the rest, so it is destroyed first
};

}  // namespace zkrecipes::detail
