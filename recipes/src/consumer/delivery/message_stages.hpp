// Which messages of a window are in which stage.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <set>
#include <utility>

#include "delivery/message_in_hand.hpp"

namespace zkrecipes::detail {

class message_stages {
 public:
  using stage = message_in_hand::stage;
  using timed_messages = std::pmr::set<std::pair<lease_clock::time_point, std::uint64_t>>;

  message_stages(bool is_strict, std::pmr::memory_resource* memory)
      : is_strict_(is_strict), working_(memory), resting_(memory) {}

  /// Adds a message that waits.
  void add(const message_in_hand& which);
  void set(message_in_hand& which, stage at);
  void remove(const message_in_hand& which);

  std::size_t count(stage at) const noexcept { return counts_[static_cast<std::size_t>(at)]; }
  std::size_t working_count() const noexcept { return working_.size(); }
  /// The number of messages that are processed, or have been and are not committed.
  std::size_t begun_count() const noexcept { return begun_; }
  /// When the next rest ends; `never` if no message rests.
  lease_clock::time_point next_time() const { return resting_.empty() ? never : resting_.begin()->first; }
  /// The number of the message whose rest ends next, if it has ended; else 0.
  std::uint64_t rested(lease_clock::time_point now) const {
    return next_time() <= now && !resting_.empty() ? resting_.begin()->second : 0;
  }
  /// The messages that are processed, by when their calls of `process` were begun.
  const timed_messages& working() const noexcept { return working_; }
  /// When the call that runs for the longest time was begun; `never` if none runs.
  lease_clock::time_point working_since() const { return working_.empty() ? never : working_.begin()->first; }
  /// The finished messages, by their numbers.
  const message_numbers& finished() const noexcept { return finished_; }
  /// Whether the first finished message is not behind one of the strict lane that is not processed.
  bool has_finished() const;
  /// In strict order: the messages that wait, are worked on, or rest.
  const message_numbers& unprocessed() const noexcept { return unprocessed_; }
  /// In strict order: whether one in front of this one is processed, and bars what comes behind it.
  bool is_barred(std::uint64_t number) const { return !barring_.empty() && *barring_.begin() < number; }

 private:
  void leave(const message_in_hand& which);
  void track_processed(const message_in_hand& which, bool was_processed);

  bool is_strict_;
  message_numbers finished_;
  message_numbers unprocessed_;
  message_numbers barring_;
  timed_messages working_;
  timed_messages resting_;  // by when their rest ends
  std::array<std::size_t, 5> counts_{};
  std::size_t begun_ = 0;
};

}  // namespace zkrecipes::detail
