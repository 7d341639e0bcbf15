#include "gate/gate_table.hpp"

#include <utility>

namespace zkrecipes::detail {

std::size_t gate_table::slot_of(const gate_key& key) const noexcept {
  auto at = key.low & mask();
  while (slots_[at].generation != 0 && slots_[at].key != key) at = (at + 1) & mask();
  return at;
}

active_key* gate_table::find_other(const gate_key& key) noexcept {
  auto& there = slots_[slot_of(key)];
  return there.generation != 0 ? &there : nullptr;
}

active_key& gate_table::insert_other(const gate_key& key) {
  if (is_full()) grow();
  ++others_;
  auto& made = slots_[slot_of(key)];
  made.key = key;
  return made;
}

void gate_table::erase_other(active_key& which) noexcept {
  auto hole = static_cast<std::size_t>(&which - slots_.data());
  for (auto at = (hole + 1) & mask(); slots_[at].generation != 0; at = (at + 1) & mask()) {
    // An entry may not stand in front of the slot where the search for it begins.
    const auto distance_from_home = (at - slots_[at].key.low) & mask();
    const auto distance_from_hole = (at - hole) & mask();
    if (distance_from_home < distance_from_hole) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = active_key();
  --others_;
}

void gate_table::grow() {
  std::vector<active_key> before(slots_.empty() ? least : 2 * slots_.size());
  std::swap(before, slots_);
  for (const auto& each : before) {
    if (each.generation != 0) slots_[slot_of(each.key)] = each;
  }
}

}  // namespace zkrecipes::detail
