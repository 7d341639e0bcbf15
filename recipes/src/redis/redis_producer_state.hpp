// Puts messages into streams exactly once: the script that puts them also writes the number of the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "redis/put_script.hpp"
#include "redis/redis_question.hpp"
#include "session/operation.hpp"
#include "topic/put_inbox.hpp"
#include "topic/put_result.hpp"

namespace zkrecipes::detail {

/// One batch is under way at a time. Its script names the number of the message before it, so that it does nothing when
/// it is sent again, or comes late. On the strand but for `put` and `put_all`.
class redis_producer_state : public std::enable_shared_from_this<redis_producer_state> {
 public:
  redis_producer_state(redis_frame_ptr frame, const std::string& name);

  const scheduler_ptr& get_scheduler() const noexcept { return frame_->session->get_scheduler(); }

  /// From any thread. The caller is told the number of the message.
  void put(topic_caller::handler whose, topic_message what);
  /// From any thread. The caller is told how many of them were put.
  void put_all(topic_caller::handler whose, std::vector<topic_message> what);
  awaitable<outcome<std::uint64_t>> last();

 private:
  using waiting_put = put_inbox::waiting_put;
  class abandonment;

  void accept(topic_caller::handler whose, std::vector<topic_message> what, bool is_many);
  void take_in(std::vector<waiting_put> arrived);
  awaitable<void> work(std::shared_ptr<abandonment> watch);
  awaitable<error_code> claim(redis_connection& by, std::uint64_t& number);
  awaitable<error_code> begin();
  awaitable<void> put_batch();
  std::vector<stream_put> next_batch() const;
  void conclude(std::size_t count, const put_answer& answer, bool was_repeated);
  void note_put(std::size_t count);
  void fail_first(const error_code& why);
  void fail_all(const error_code& why);
  void note_loss(std::uint64_t found);

  redis_frame_ptr frame_;
  std::string key_;  // of the producer
  std::string id_;   // of this object
  redis_connection broker_;
  bool is_known_ = false;   // the name was taken over, and `last_` is the number of the last message
  std::uint64_t last_ = 0;  // acknowledged
  bool is_working_ = false;
  std::deque<waiting_put> waiting_;
  std::deque<put_result> results_;  // to be told
  put_inbox inbox_;
};

}  // namespace zkrecipes::detail
