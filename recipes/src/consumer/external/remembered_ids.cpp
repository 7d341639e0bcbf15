#include "external/remembered_ids.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::size_t most_id_bytes = 384 * 1'024;

}  // namespace

bool remembered_ids::load(std::string_view record) {
  auto stored = parse_delivery_memory(record);
  if (!stored) return false;
  memory_ = std::move(*stored);
  order_.clear();
  bytes_ = 0;
  for (auto& each : memory_.names()) {
    bytes_ += held_messages::cost_of(each);
    order_.push_back(std::move(each));
  }
  return true;
}

void remembered_ids::settle(const std::string& id) {
  if (memory_.knows(id)) return;
  memory_.settle(id);
  order_.push_back(id);
  bytes_ += held_messages::cost_of(id);
  while (order_.size() > most_ || bytes_ > most_id_bytes) forget_oldest();
}

void remembered_ids::forget(const std::string& id) {
  const auto found = std::ranges::find(order_, id);
  if (found == order_.end()) return;
  bytes_ -= held_messages::cost_of(id);
  order_.erase(found);
  memory_.forget(id);
}

void remembered_ids::fail(const std::string& id, std::int64_t since, const held_messages& held) {
  auto all = memory_.failed_names();
  if (all.size() >= most_counted && memory_.failed(id).count == 0) {
    std::erase_if(all, [&](const std::string& each) { return held.contains(each); });
    const auto began = [&](const std::string& each) { return memory_.failed(each).since; };
    const auto oldest = std::ranges::min_element(all, {}, began);
    if (oldest != all.end()) memory_.forget(*oldest);
  }
  memory_.fail(id, since);
}

void remembered_ids::forget_oldest() {
  bytes_ -= held_messages::cost_of(order_.front());
  memory_.forget(order_.front());
  order_.pop_front();
}

}  // namespace zkrecipes::detail
