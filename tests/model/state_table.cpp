#include "state_table.hpp"

namespace model {

namespace {

std::uint64_t mixed(std::uint64_t packed) {
  packed ^= packed >> 32;
  packed *= 0x9e3779b97f4a7c15;
  return packed ^ (packed >> 29);
}

}  // namespace

/// Where the state is, or where it is to be.
std::size_t state_table::slot_of(std::uint64_t packed) const {
  const auto mask = slots_.size() - 1;
  auto slot = mixed(packed) & mask;
  while (slots_[slot] != none && states_[slots_[slot]] != packed) slot = (slot + 1) & mask;
  return slot;
}

std::pair<state_table::number, bool> state_table::insert(std::uint64_t packed) {
  auto& slot = slots_[slot_of(packed)];
  if (slot != none) return {slot, false};
  const auto added = size();
  slot = added;
  states_.push_back(packed);
  if (2 * states_.size() > slots_.size()) grow();
  return {added, true};
}

void state_table::grow() {
  slots_.assign(2 * slots_.size(), none);
  for (number i = 0; i < size(); ++i) slots_[slot_of(states_[i])] = i;
}

}  // namespace model
