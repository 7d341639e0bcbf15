// Puts messages into streams exactly once: the script that puts them also writes the number of the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redis/redis_frame.hpp"
#include "redis/redis_inquiry.hpp"
#include "session/operation.hpp"
#include "topic/put_inbox.hpp"

struct redisReply;

namespace zkrecipes::detail {

/// The scripts of a producer: what the broker is asked, and what it answers. They do no I/O.
/// A message, and the stream that it goes into.
struct stream_put {
  std::string stream;
  std::string key;
  std::string data;
};

/// The answer of either script.
struct put_answer {
  std::uint64_t last = 0;  ///< The number of the last message of this producer.
  bool is_ours = false;    ///< Nobody else has taken the name over.
  std::string problem{};   ///< The broker's words about the message behind the last one.
};

/// Takes the producer's name over: `by` tells this object from all others.
std::vector<std::string> claim_command(const std::string& producer, const std::string& by);
/// Puts all if the last message has this number, and the name is ours; nothing otherwise. Puts none behind one that the
/// broker refuses.
std::vector<std::string> put_command(const redis_options& options, const std::string& producer, const std::string& by,
                                     std::uint64_t last, const std::vector<stream_put>& all);
/// Nothing if the reply is not of the form of our scripts.
std::optional<put_answer> parse_put_answer(const redisReply& reply);

/// One script is under way at a time. That of a batch names the number of the message before it, so that it does
/// nothing when it is sent again, or comes late. Each try to take the name over has an id of its own: as long as the
/// name is ours, nothing but the last batch has changed the number. The coroutine waits for further calls until the
/// last handle or the session has ended, and then closes the connection. On the strand but for what says otherwise.
class redis_producer_state final : public inbox_producer {
 public:
  redis_producer_state(redis_frame_ptr frame, const std::string& name);

  const redis_options& options() const noexcept { return frame_->options; }
  /// From any thread. The caller is told behind the puts in front of it.
  void last(handler whose) override { add(std::move(whose), {}, true); }

 private:
  void take_in(std::vector<waiting_put> arrived) override;
  awaitable<void> work(std::shared_ptr<put_abandonment> watch) override;
  void abandon() override;
  awaitable<void> wait_for_calls();
  awaitable<void> do_next();
  awaitable<error_code> claim(std::uint64_t& number);
  awaitable<error_code> begin();
  awaitable<void> answer_last(bool has_begun);
  awaitable<void> put_batch();
  std::vector<stream_put> next_batch() const;
  void conclude(std::size_t count, const put_answer& answer, bool is_open);
  void on_put(std::size_t count);
  void fail_first(const error_code& why);
  void fail_batch(std::size_t count, const error_code& why);
  void fail_puts(const error_code& why);
  void fail_all(const error_code& why);
  void on_loss(std::uint64_t found);

  redis_frame_ptr frame_;
  std::string key_;  // of the producer
  std::string id_;   // of our last try to take the name over
  redis_connection broker_;
  bool is_known_ = false;           // the name was taken over, and `last_` is the number of the last message
  std::uint64_t last_ = 0;          // acknowledged
  put_line waiting_;                // one without messages asks for the number
  std::deque<put_result> results_;  // to be told
};

}  // namespace zkrecipes::detail
