// Numbers that the messages of a producer have already, from the file of a spool.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "rabbitmq/message_numbering.hpp"
#include "rabbitmq/rabbit_frame.hpp"

namespace zkrecipes::detail {

/// One file feeds all queues, so the numbers that a queue gets have holes. While they come one after the other, all
/// between two messages of a queue are known to have gone elsewhere. When they begin anew, with another epoch or
/// because messages are put again, nothing is known until a queue has had a message, which says so: its `first` is its
/// own number.
class given_numbers final : public message_numbering {
 public:
  explicit given_numbers(rabbit_frame_ptr frame) : frame_(std::move(frame)) {}

  /// Compares the record at the path, once.
  awaitable<error_code> begin() override {
    const auto error = co_await agree_on_record(frame_);
    has_begun_ = !error;
    co_return error;
  }
  bool has_begun() const noexcept override { return has_begun_; }
  message_number next(std::uint32_t shard, const message_number& given) override {
    const bool goes_on = given.epoch == last_.epoch && given.number == last_.number + 1;
    if (!goes_on) before_.clear();
    last_ = given;
    auto& before = before_[shard];
    auto mine = given;
    const bool has_hole = before != 0 && before + 1 < given.number;
    if (has_hole) mine.first = before + 1;
    if (before == 0) mine.first = given.number;
    before = given.number;
    return mine;
  }
  void skip(std::uint32_t shard, std::uint64_t, std::uint64_t) override { before_[shard] = 0; }
  bool are_lasting() const noexcept override { return true; }
  void fail() override {}

 private:
  rabbit_frame_ptr frame_;
  bool has_begun_ = false;
  message_number last_;
  std::map<std::uint32_t, std::uint64_t> before_;  // the last number, by shard
};

}  // namespace zkrecipes::detail
