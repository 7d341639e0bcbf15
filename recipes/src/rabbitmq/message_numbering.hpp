// How the messages of a producer get their numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "rabbitmq/rabbit_frame.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

// What tells a message of a producer from all others in its queue.

struct message_number {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;
  /// The numbers from this one on, up to that of the message, are those of messages that went to other queues, or were
  /// not put. So the consumer remembers a range, where numbers have holes. That of the message itself: nothing is known
  /// of those in front of it. 0: they are all in this queue.
  std::uint64_t first = 0;
};

/// On the strand.
class message_numbering {
 public:
  virtual ~message_numbering() = default;

  /// Does the writes in ZooKeeper that come before the first number, such as the producer's record.
  virtual awaitable<error_code> begin() = 0;
  virtual bool has_begun() const noexcept = 0;
  /// For the next message, which goes to this queue. `given`: what the caller has for it, if anything.
  virtual message_number next(std::uint32_t shard, const message_number& given) = 0;
  /// The message of this queue with this number was not put, and its numbers from `first` on are those of none. 0: it
  /// may be put. No message with a higher number is on its way, but some may have been put.
  virtual void skip(std::uint32_t shard, std::uint64_t number, std::uint64_t first) = 0;
  /// Messages keep their numbers when the producer ends: the next one puts again what this one has not put.
  virtual bool are_lasting() const noexcept = 0;
  /// All puts have failed, and it is not known what was put.
  virtual void fail() = 0;
};

// The number that tells the messages of one life of a producer from those of another.

/// Writes the producer's record, and returns the number of the transaction that did it: nobody else gets it, and each
/// later one is larger. Errors: those of `agree_on_record`; `foreign_data` (there is a record that is no producer's),
/// and those of `core::perform`.
awaitable<outcome<std::uint64_t>> claim_epoch(rabbit_frame_ptr frame, std::string name);

/// Numbers that a producer counts itself, in an epoch of its own.
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

/// Numbers that the messages of a producer have already, from the file of a spool.
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
