// Puts messages into a topic exactly once: the transaction that creates the batches also writes the number of the last
// message.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/consumer/topic_producer.hpp>

#include "topic/put_abandonment.hpp"
#include "topic/put_inbox.hpp"
#include "topic/put_result.hpp"
#include "topic/topic_frame.hpp"
#include "topic/topic_room.hpp"
#include "topic/topic_sender.hpp"
#include "topic/topic_transaction.hpp"

namespace zkrecipes::detail {

/// A put costs neither a coroutine nor a timer. It waits in the inbox, any thread's, and then on the strand; those of
/// one transaction complete together. Only a full transaction is sent while others are under way.
class topic_producer_state : public std::enable_shared_from_this<topic_producer_state> {
 public:
  topic_producer_state(topic_frame_ptr topic, const std::string& name, topic_producer_options options);

  const scheduler_ptr& get_scheduler() const noexcept { return topic_->session->get_scheduler(); }
  const std::string& path() const noexcept { return topic_->where.root; }
  const topic_producer_options& options() const noexcept { return options_; }

  /// From any thread. The caller is told the number of the message.
  void put(topic_caller::handler whose, topic_message what);
  /// From any thread. The caller is told how many of them were put.
  void put_all(topic_caller::handler whose, std::vector<topic_message> what);
  awaitable<outcome<std::uint64_t>> last();

 private:
  using waiting_put = put_inbox::waiting_put;

  void accept(topic_caller::handler whose, std::vector<topic_message> what, bool is_many);

  void take_in(std::vector<waiting_put> arrived);
  awaitable<void> work(std::shared_ptr<put_abandonment> watch);
  awaitable<void> fill();
  awaitable<void> send_next();
  awaitable<void> wait_for_answer();
  bool is_full() const noexcept;
  bool can_send() const noexcept { return is_full() && sender_->has_room(); }
  void compose(topic_transaction& into);
  bool compose(topic_put& each, topic_transaction& into);
  void conclude(const topic_sender::result& what);
  void on_put(std::size_t count, std::uint64_t number);
  void fail(std::size_t count, const error_code& error);
  void begin_again();
  void end_late();
  void count_in(const topic_put& which, std::size_t from, std::size_t to);
  void count_out(const topic_put& which, std::size_t from, std::size_t to);

  topic_frame_ptr topic_;
  topic_producer_options options_;
  std::shared_ptr<topic_sender> sender_;
  topic_room room_;
  std::size_t overhead_;   // bytes of a node in a transaction besides its data
  std::size_t max_bytes_;  // of a transaction
  bool is_working_ = false;
  bool is_ending_late_ = false;       // it will be looked at
  std::deque<waiting_put> waiting_;   // those of the transactions under way are the first
  std::size_t composed_puts_ = 0;     // so many of them are in transactions as a whole
  std::size_t waiting_messages_ = 0;  // those that are in none
  std::size_t waiting_bytes_ = 0;
  std::deque<put_result> results_;  // to be told
  condition changed_;               // the next transaction is full, or one has ended
  put_inbox inbox_;
};

}  // namespace zkrecipes::detail
