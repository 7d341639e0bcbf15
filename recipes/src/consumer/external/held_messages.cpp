#include "external/held_messages.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::size_t longest_message_id = 256;

}  // namespace

/// The ids of those that will come can be of any length.
std::size_t held_messages::room() const noexcept {
  const auto left = most_bytes - std::min(most_bytes, bytes_);
  return std::min(most_ - std::min(most_, all_.size()), left / (longest_message_id + bytes_of_attempts));
}

std::size_t held_messages::cost_of(std::string_view id) {
  const auto is_escaped = [](char each) { return each == '"' || each == '\\'; };
  return id.size() + static_cast<std::size_t>(std::ranges::count_if(id, is_escaped)) + 3;
}

const external_message* held_messages::find(std::string_view id) const {
  const auto found = all_.find(id);
  return found == all_.end() ? nullptr : &found->second.what;
}

void held_messages::add(external_message what) {
  bytes_ += cost_of(what.id) + bytes_of_attempts;
  auto id = what.id;
  all_.emplace(std::move(id), held_message{std::move(what)});
}

bool held_messages::count_repeat(std::string_view id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return false;
  ++found->second.deliveries;
  return true;
}

void held_messages::forget_deliveries() {
  for (auto& [id, each] : all_) each.deliveries = 0;
}

std::size_t held_messages::deliveries(std::string_view id) const {
  const auto found = all_.find(id);
  return found == all_.end() ? 0 : found->second.deliveries;
}

void held_messages::remove(std::string_view id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return;
  bytes_ -= cost_of(id) + bytes_of_attempts;
  all_.erase(found);
}

void held_messages::clear() {
  all_.clear();
  bytes_ = 0;
}

}  // namespace zkrecipes::detail
