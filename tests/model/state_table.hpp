// The states that the search has found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace model {

/// Numbers the states in the order in which they are found. Its hash table has only their numbers.
class state_table {
 public:
  using number = std::uint32_t;

  state_table() : slots_(first_slots, none) {}

  /// The number of the state, and whether it is new.
  std::pair<number, bool> insert(std::uint64_t packed);
  std::uint64_t operator[](number which) const { return states_[which]; }
  number size() const { return static_cast<number>(states_.size()); }

 private:
  static constexpr number none = ~number{0};
  static constexpr std::size_t first_slots = 1 << 16;

  std::size_t slot_of(std::uint64_t packed) const;
  void grow();

  std::vector<std::uint64_t> states_;
  std::vector<number> slots_;  // a power of two, and at least twice as many as states
};

}  // namespace model
