// Puts messages into queues so that each is taken once: it has an id, with which it is sent until it is confirmed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rabbitmq/amqp_answer.hpp"
#include "rabbitmq/message_numbering.hpp"
#include "rabbitmq/queue_publisher.hpp"
#include "rabbitmq/queue_puts.hpp"
#include "rabbitmq/rabbit_connection.hpp"
#include "session/condition.hpp"
#include "session/operation.hpp"
#include "topic/put_inbox.hpp"

namespace zkrecipes::detail {

/// Since when the same answer is awaited.
class answer_watch {
 public:
  explicit answer_watch(lease_clock::duration limit) : limit_(limit) {}

  /// To be called whenever something has happened. `what`: a number of the answer that is awaited; 0: there is none.
  /// `is_held_up`: it can not come at present. Nothing tells when that has ended, so the time begins at the next look.
  void look(std::uint64_t what, bool is_held_up, lease_clock::time_point now) noexcept {
    if (what != what_ || is_held_up || was_held_up_) since_ = now;
    what_ = what;
    was_held_up_ = is_held_up;
  }
  /// When the answer has not come in time.
  lease_clock::time_point due() const noexcept { return what_ == 0 ? never : since_ + limit_; }

 private:
  lease_clock::duration limit_;
  std::uint64_t what_ = 0;
  bool was_held_up_ = false;
  lease_clock::time_point since_{};
};

/// The `queue_publisher` says what to send, and `queue_puts` what the callers are told; here it is sent. Each call
/// completes when all of its messages are confirmed, whatever becomes of those in front of it that went into other
/// queues.
///
/// The coroutine waits for further calls until the last handle or the session has ended, and then closes the
/// connection. On the strand but for what says otherwise.
class rabbit_producer_state final : public inbox_producer {
 public:
  rabbit_producer_state(rabbit_frame_ptr frame, std::string name, std::unique_ptr<message_numbering> numbers);

  const rabbit_options& options() const noexcept { return frame_->options; }
  /// Refuses: RabbitMQ keeps no number of the last message.
  void last(handler whose) override { refuse(std::move(whose), asio::error::operation_not_supported); }
  void leave() override;
  /// On the strand. The messages have numbers already, one after the other from `first` on; none is larger than
  /// `is_too_large_for_queue` says.
  void put_numbered(handler whose, std::vector<topic_message> what, const message_number& first);
  /// On the strand. Why nothing is put at the moment, in words; empty: no reason is known.
  std::string hindrance() const;
  /// On the strand. Nothing is to be asked of ZooKeeper any more.
  bool has_begun() const noexcept { return numbering_->has_begun(); }

 private:
  void take_in(std::vector<waiting_put> arrived) override;
  void begin();
  awaitable<void> work(std::shared_ptr<put_abandonment> watch) override;
  void abandon() override;
  awaitable<error_code> prepare();
  awaitable<void> wait_for_news();
  lease_clock::time_point look_at_clock();
  void give_up_if_late();
  void greet();
  void tell_results();

  void send_all();
  void declare_next(rabbit_link& by);
  void send_next(rabbit_link& by);

  // What the broker has said.
  void on_confirm(const amqp_confirm& what);
  void on_return(std::uint64_t tag);
  error_code record_end();
  error_code judge_refusal(const error_code& why);
  void forget_connection();

  rabbit_frame_ptr frame_;
  std::string name_;
  std::unique_ptr<message_numbering> numbering_;
  rabbit_connection broker_;
  std::uint64_t greeted_ = 0;  // the number of the connection that is in use; 0: none
  queue_publisher publisher_;
  queue_puts puts_;
  std::optional<std::uint32_t> declaring_;          // the shard whose queue is being declared
  error_code declare_error_;                        // of the last one of this connection
  std::map<std::uint32_t, delivery_limit> limits_;  // of the queues that were declared, by shard
  bool must_declare_again_ = false;                 // by another connection
  std::set<std::uint32_t> gone_;                    // shards whose missing queues the log was told of
  std::uint64_t single_until_ = 0;                  // up to this place messages are sent one by one
  std::uint64_t rejected_until_ = 0;  // while messages up to this place are here, the pauses between connections grow
  answer_watch confirms_;
  answer_watch declares_;
  answer_watch rejections_;
  bool has_told_pause_ = false;
};

}  // namespace zkrecipes::detail
