// The data of a window's messages: whose is here, and whose is to be read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "delivery/message_lanes.hpp"

namespace zkrecipes::detail {

class message_data {
 public:
  explicit message_data(message_table& all) : all_(all) {}  // which outlives it

  /// A message was added, with its data.
  void add() noexcept { ++here_; }
  void remove(const message_in_hand& which);
  void load(message_in_hand& which, message what);
  void unload(message_in_hand& which);
  /// Drops the data of all of these that wait, so that they take no room while their lane rests.
  void unload_waiting(const message_lanes::members& lane);
  /// Those that were unloaded are to be read again.
  void want(const message_lanes::members& lane);
  void unwant(const message_in_hand& which) { wanted_.erase(which.number); }

  std::size_t count() const noexcept { return here_; }
  /// The numbers of those that are to be read again.
  const message_numbers& wanted() const noexcept { return wanted_; }

 private:
  message_table& all_;
  message_numbers wanted_;
  std::size_t here_ = 0;
};

}  // namespace zkrecipes::detail
