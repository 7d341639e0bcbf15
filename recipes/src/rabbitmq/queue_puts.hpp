// The calls of a producer that are not answered yet, and the messages of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "rabbitmq/message_numbering.hpp"
#include "rabbitmq/put_progress.hpp"
#include "rabbitmq/queue_publisher.hpp"

namespace zkrecipes::detail {

/// Hands the messages of the calls to the publisher as it has room, and makes the results for the callers of what
/// becomes of them. It does no I/O.
class queue_puts {
 public:
  using progress_ptr = std::shared_ptr<put_progress>;
  /// One that was added to the publisher.
  struct message {
    progress_ptr of;
    std::size_t index = 0;  // in its call
    std::uint32_t shard = 0;
    message_number number{};

    const topic_message& what() const { return of->at(index); }
  };

  queue_puts(queue_publisher& publisher, message_numbering& numbering, std::uint32_t shards)
      : publisher_(publisher), numbering_(numbering), shards_(shards) {}

  void add(progress_ptr call) { waiting_.push_back(std::move(call)); }
  bool is_empty() const noexcept { return messages_.empty() && waiting_.empty(); }
  /// Without a word: who waits for them has gone.
  void clear();
  void fill();
  const message& at(std::uint64_t place) const { return messages_.at(place); }
  /// The place of the first message; behind all places if there is none.
  std::uint64_t first() const noexcept {
    return messages_.empty() ? std::numeric_limits<std::uint64_t>::max() : messages_.begin()->first;
  }
  /// The place of the last message; 0: there is none.
  std::uint64_t last() const noexcept { return messages_.empty() ? 0 : messages_.rbegin()->first; }

  void on_put(std::uint64_t place);
  /// This message can not be put. Those behind it in the same call are not sent, or not sent again.
  void fail(std::uint64_t place, const error_code& why);
  /// All messages for this queue.
  void fail_queue(std::uint32_t shard, const error_code& why);
  void fail_all(const error_code& why);
  bool has_results() const noexcept { return !results_.empty(); }
  std::deque<put_result> take_results() { return std::exchange(results_, {}); }

 private:
  void fail(progress_ptr which, std::size_t index, const error_code& why);
  void skip(const message& which, bool may_be_put);

  queue_publisher& publisher_;
  message_numbering& numbering_;
  std::uint32_t shards_;
  std::map<std::uint64_t, message> messages_;  // by place
  std::deque<progress_ptr> waiting_;           // calls of which not all messages were added to the publisher
  std::deque<put_result> results_;             // to be told
};

}  // namespace zkrecipes::detail
