// The lanes of a window: which message of each may be begun next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <set>
#include <string>

#include "delivery/message_stages.hpp"

namespace zkrecipes::detail {

class message_lanes {
 public:
  using members = std::pmr::set<std::uint64_t>;

  /// Both outlive it. `is_strict`: all messages are in one lane.
  message_lanes(const message_table& all, const message_stages& stages, bool is_strict,
                std::pmr::memory_resource* memory)
      : all_(all), stages_(stages), is_strict_(is_strict), lanes_(memory), ready_of_(memory) {}

  /// Behind the others of its lane.
  void add(const message_in_hand& which);
  /// Does nothing if it is in none.
  void remove(const message_in_hand& which);
  /// Finds out which message of a lane may be begun next.
  void review(const std::string& lane);

  const members& of(const std::string& lane) const { return lanes_.at(lane); }
  /// The number of its first message; 0: there is no such lane.
  std::uint64_t first_of(const std::string& lane) const;
  bool is_resting(const std::string& lane) const;
  /// At most one of each lane: the next one that may be begun.
  const message_numbers& ready() const noexcept { return ready_; }
  /// How many messages wait behind others.
  std::size_t held_back() const noexcept { return stages_.count(message_in_hand::stage::waiting) - ready_.size(); }

 private:
  std::uint64_t candidate(const std::string& lane) const;

  const message_table& all_;
  const message_stages& stages_;
  bool is_strict_;
  std::pmr::map<std::string, members> lanes_;
  message_numbers ready_;
  std::pmr::map<std::string, std::uint64_t> ready_of_;  // by lane
};

}  // namespace zkrecipes::detail
