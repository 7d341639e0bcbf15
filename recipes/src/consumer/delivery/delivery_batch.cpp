#include "delivery/delivery_batch.hpp"

#include <utility>

namespace zkrecipes::detail {

namespace {

std::size_t bytes_of(const operation& one) {
  constexpr std::size_t fixed_part = 64;
  return fixed_part + one.path.size() + one.data.size();
}

bool is_plain_set(const operation& one) { return one.type == operation::kind::set && one.version == any_version; }

}  // namespace

void delivery_batch::add(member one, transaction settling, transaction effects) {
  bytes_ += more_bytes(settling, effects);
  one.first = count_;
  for (auto& each : std::move(settling).operations()) append(std::move(each), false);
  for (auto& each : std::move(effects).operations()) append(std::move(each), true);
  members_.push_back(std::move(one));
}

void delivery_batch::append(operation one, bool is_effect) {
  if (merges_) {
    auto& touched = touches_[one.path];
    touched.is_plain = touched.is_plain && is_effect && is_plain_set(one);
    touched.last = count_;
  }
  ++count_;
  operations_.push_back(std::move(one));
}

std::size_t delivery_batch::more_bytes(const transaction& settling, const transaction& effects) const {
  std::size_t bytes = 0;
  for (const auto& each : settling.operations()) bytes += bytes_of(each);
  for (const auto& each : effects.operations()) {
    const auto found = is_plain_set(each) ? touches_.find(each.path) : touches_.end();
    const bool is_merged = found != touches_.end() && found->second.is_plain;
    bytes += is_merged ? 0 : bytes_of(each);
  }
  return bytes;
}

bool delivery_batch::is_dropped(std::size_t place) const {
  const auto found = touches_.find(operations_[place].path);
  return found != touches_.end() && found->second.is_plain && found->second.last != place;
}

transaction delivery_batch::seal(transaction more) {
  transaction all;
  for (std::size_t i = 0; i < count_; ++i) {
    if (is_dropped(i)) {
      is_merged_ = true;
      continue;
    }
    places_.push_back(i);
    all.add(std::move(operations_[i]));
  }
  operations_.clear();
  for (std::size_t i = 0; i < more.operations().size(); ++i) places_.push_back(count_ + i);
  return all.append(std::move(more));
}

const delivery_batch::member* delivery_batch::owner_of(std::size_t place) const {
  const member* found = nullptr;
  if (place >= count_) return found;
  for (const auto& each : members_) {
    if (each.first <= place) found = &each;
  }
  return found;
}

}  // namespace zkrecipes::detail
