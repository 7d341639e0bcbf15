// Numbers that a producer counts itself, in an epoch of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "rabbitmq/message_numbering.hpp"
#include "rabbitmq/rabbit_frame.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

// The number that tells the messages of one life of a producer from those of another.

/// Writes the producer's record, and returns the number of the transaction that did it: nobody else gets it, and each
/// later one is larger. Errors: those of `agree_on_record`; `foreign_data` (there is a record that is no producer's),
/// and those of `core::perform`.
awaitable<outcome<std::uint64_t>> claim_epoch(rabbit_frame_ptr frame, std::string name);

/// Each queue has numbers of its own. Where they have holes, the next message says so. After an error that has ended
/// all puts there is another epoch, so that no number of a message that may have been put is used again.
class claimed_numbers final : public message_numbering {
 public:
  claimed_numbers(rabbit_frame_ptr frame, std::string name) : frame_(std::move(frame)), name_(std::move(name)) {}

  awaitable<error_code> begin() override {
    auto claimed = co_await claim_epoch(frame_, name_);
    const auto& [error, epoch] = claimed;
    if (!error) epoch_ = epoch;
    co_return error;
  }
  bool has_begun() const noexcept override { return epoch_ != 0; }
  message_number next(std::uint32_t shard, const message_number&) override {
    message_number mine{epoch_, ++last_[shard], 0};
    const auto unused = unused_.extract(shard);
    if (!unused.empty()) mine.first = unused.mapped() != 0 ? unused.mapped() : mine.number;
    return mine;
  }
  void skip(std::uint32_t shard, std::uint64_t number, std::uint64_t first) override {
    const bool is_last = last_[shard] == number;  // else a message behind it was put, and must not be in the range
    unused_[shard] = is_last ? first : 0;
  }
  bool are_lasting() const noexcept override { return false; }
  void fail() override {
    epoch_ = 0;
    last_.clear();
    unused_.clear();
  }

 private:
  rabbit_frame_ptr frame_;
  std::string name_;
  std::uint64_t epoch_ = 0;                        // 0: none yet
  std::map<std::uint32_t, std::uint64_t> last_;    // the number of the last message of this epoch, by shard
  std::map<std::uint32_t, std::uint64_t> unused_;  // see `skip`
};

}  // namespace zkrecipes::detail
