#include "delivery/message_lanes.hpp"

namespace zkrecipes::detail {

void message_lanes::add(const message_in_hand& which) {
  auto& lane = lanes_[which.lane];
  lane.insert(lane.end(), which.number);
}

void message_lanes::remove(const message_in_hand& which) {
  const auto found = lanes_.find(which.lane);  // a declined message is in none
  if (found == lanes_.end()) return;
  found->second.erase(which.number);
  if (found->second.empty()) lanes_.erase(found);
}

void message_lanes::review(const std::string& lane) {
  const auto found = candidate(lane);
  const auto old = ready_of_.find(lane);
  if (old == ready_of_.end()) {
    if (found == 0) return;
    ready_of_.emplace(lane, found);
  } else {
    if (old->second == found) return;
    ready_.erase(old->second);
    if (found == 0) ready_of_.erase(old);
    if (found != 0) old->second = found;
  }
  if (found != 0) ready_.insert(found);
}

std::uint64_t message_lanes::first_of(const std::string& lane) const {
  const auto found = lanes_.find(lane);
  return found == lanes_.end() ? 0 : *found->second.begin();
}

bool message_lanes::is_resting(const std::string& lane) const {
  const auto first = first_of(lane);
  return first != 0 && all_.at(first).at == message_in_hand::stage::resting;
}

/// The first message of the lane that is not begun, if those in front of it let it pass; else 0.
std::uint64_t message_lanes::candidate(const std::string& lane) const {
  auto first = first_of(lane);
  if (first == 0) return 0;
  if (is_strict_) {
    if (stages_.unprocessed().empty()) return 0;
    first = *stages_.unprocessed().begin();
    if (stages_.is_barred(first)) return 0;
  }
  return all_.at(first).at == message_in_hand::stage::waiting ? first : 0;
}

}  // namespace zkrecipes::detail
