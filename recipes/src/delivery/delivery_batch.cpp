#include "delivery/delivery_batch.hpp"

#include <utility>

namespace zkrecipes::detail {

std::size_t bytes_of(const transaction& operations) {
  constexpr std::size_t fixed_part = 64;
  std::size_t bytes = 0;
  for (const auto& each : operations.operations()) bytes += fixed_part + each.path.size() + each.data.size();
  return bytes;
}

void delivery_batch::add(member one, transaction settling, const transaction& effects) {
  one.first = operations_.operations().size();
  bytes_ += bytes_of(settling) + bytes_of(effects);
  operations_.append(std::move(settling)).append(effects);
  own_operations_ = operations_.operations().size();
  members_.push_back(std::move(one));
}

const delivery_batch::member* delivery_batch::owner_of(std::size_t operation) const {
  const member* found = nullptr;
  if (operation >= own_operations_) return found;
  for (const auto& each : members_) {
    if (each.first <= operation) found = &each;
  }
  return found;
}

}  // namespace zkrecipes::detail
