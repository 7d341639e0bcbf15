// The calls of a producer that are not answered yet, and the messages of these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "rabbitmq/message_numbering.hpp"
#include "rabbitmq/queue_publisher.hpp"
#include "topic/put_inbox.hpp"

namespace zkrecipes::detail {

/// How far the messages of one call are.
/// Messages of several queues are confirmed in any order. The first one that can not be put ends the call: its caller
/// is told when those in front of it are confirmed, so that the number of them is right.
class put_progress {
 public:
  /// `first`: what the caller has for the first message, if anything.
  explicit put_progress(put_inbox::waiting_put call, const message_number& first = {})
      : call_(std::move(call)), first_(first), is_put_(call_->messages.size()), end_(is_put_.size()) {}

  const topic_message& at(std::size_t index) const { return call_->messages[index]; }
  const std::vector<topic_message>& messages() const noexcept { return call_->messages; }

  /// The numbers of the messages of a call follow each other.
  message_number given(std::size_t index) const noexcept { return {first_.epoch, first_.number + index, 0}; }

  /// The index of the next message that was not taken yet.
  std::size_t taken() const noexcept { return taken_; }
  void take() noexcept { ++taken_; }
  /// There is nothing more to take.
  bool is_taken() const noexcept { return taken_ >= end_; }

  void on_put(std::size_t index, std::uint64_t number) {
    number_ = number;
    is_put_[index] = true;
    while (in_a_row_ < is_put_.size() && is_put_[in_a_row_]) ++in_a_row_;
  }
  /// The message with this index can not be put.
  void fail(std::size_t index, const error_code& why) {
    if (index >= end_) return;
    end_ = index;
    error_ = why;
  }
  /// Behind the last message that the call still waits for.
  std::size_t end() const noexcept { return end_; }
  bool is_complete() const noexcept { return in_a_row_ >= end_; }

  /// The result for the caller. To be taken once: this one, or the next.
  put_result result() { return result(error_); }
  put_result result(const error_code& error) {
    const bool is_number = !call_->is_many && !error;
    return {std::move(call_->caller), error, is_number ? number_ : std::min(in_a_row_, end_)};
  }

 private:
  put_inbox::waiting_put call_;
  message_number first_;
  std::vector<bool> is_put_;
  std::size_t end_;
  error_code error_;
  std::uint64_t number_ = 0;  // of the last one that was put
  std::size_t in_a_row_ = 0;  // so many were put, from the first on
  std::size_t taken_ = 0;
};

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
  std::deque<put_result>& results() noexcept { return results_; }

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
