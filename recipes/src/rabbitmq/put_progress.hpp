// How far the messages of one call are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "rabbitmq/message_number.hpp"
#include "topic/put_inbox.hpp"
#include "topic/put_result.hpp"

namespace zkrecipes::detail {

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

  void on_put(std::size_t index) {
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
  put_result result(const error_code& error) { return {std::move(call_->caller), error, std::min(in_a_row_, end_)}; }

 private:
  put_inbox::waiting_put call_;
  message_number first_;
  std::vector<bool> is_put_;
  std::size_t end_;
  error_code error_;
  std::size_t in_a_row_ = 0;  // so many were put, from the first on
  std::size_t taken_ = 0;
};

}  // namespace zkrecipes::detail
