#include <utility>

#include <zkrecipes/flow/gate.hpp>

#include "gate/gate_shard.hpp"

namespace zkrecipes {

gate_pass::gate_pass(gate_pass&& other) noexcept
    : where_(std::exchange(other.where_, nullptr)), key_(other.key_), generation_(other.generation_) {}

gate_pass& gate_pass::operator=(gate_pass&& other) noexcept {
  gate_pass taken(std::move(other));
  std::swap(where_, taken.where_);
  std::swap(key_, taken.key_);
  std::swap(generation_, taken.generation_);
  return *this;
}

bool gate_pass::valid() const noexcept { return where_ && where_->is_valid(key_, generation_); }

void gate_pass::leave() noexcept {
  if (where_) std::exchange(where_, nullptr)->leave(key_, generation_);
}

}  // namespace zkrecipes
