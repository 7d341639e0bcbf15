// Which messages of a shard a group has settled, between what is stored and what was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "topic/log_position.hpp"

namespace zkrecipes::detail {

/// Batches are opened in order, as they are read; messages are settled in any order. The position follows behind the
/// first message that is not settled. It does no I/O.
class log_progress {
 public:
  /// A range takes about 20 bytes of the record, which each commit writes as a whole.
  static constexpr std::size_t most_ranges = 1'000;

  log_progress() = default;
  explicit log_progress(log_position stored) : stored_(std::move(stored)) {}

  /// Whether nothing of a batch is left, as far as its number tells.
  bool is_behind(std::int32_t batch) const { return stored_.is_behind(batch); }
  /// The batch was read, and has so many messages.
  void open(std::int32_t batch, std::uint32_t count);
  /// The batch is not there any more, so nobody settles its messages.
  void pass_over(std::int32_t batch);
  /// The batch is not to be removed when it is settled.
  void keep(std::int32_t batch) { stored_.kept.add(batch); }
  bool is_settled(const message_place& which) const;
  void settle(const message_place& which);
  void fail(const message_place& which, std::int64_t since);
  failed_attempts failed(const message_place& which) const;
  /// No further message is to be begun, because too many are settled behind one that is not: the record has no room for
  /// more ranges.
  bool is_far_ahead() const;
  /// Whether a message behind this one is settled.
  bool has_settled_behind(const message_place& which) const;

  log_position position() const;
  /// The batches that were settled as a whole since the last call.
  std::vector<std::int32_t> take_finished() { return std::exchange(finished_, {}); }

 private:
  using indexes = number_ranges<std::uint32_t>;
  struct part {
    std::uint32_t count = 0;
    indexes settled{};
  };

  void move_on();

  log_position stored_;                 // what was settled when nothing was open, and what is ahead of the open batches
  std::map<std::int32_t, part> open_;   // those with messages that are not settled
  std::optional<std::int32_t> opened_;  // the last one
  std::vector<std::int32_t> finished_;
};

}  // namespace zkrecipes::detail
