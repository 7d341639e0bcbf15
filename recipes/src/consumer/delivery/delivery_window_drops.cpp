// Messages that leave the window without being settled.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "delivery/delivery_window.hpp"

namespace zkrecipes::detail {

std::vector<std::string> delivery_window::drop_declined() {
  std::vector<std::string> names;
  for (auto* each : finished()) {
    if (!each->is_declined) continue;
    names.push_back(each->what->name);
    remove(*each);
  }
  return names;
}

std::vector<std::string> delivery_window::drop_lane(const std::string& lane) {
  std::vector<std::string> names;
  for (auto members = lanes_.find(lane); members != lanes_.end(); members = lanes_.find(lane)) {
    auto& first = all_.at(*members->second.begin());
    names.push_back(first.what->name);
    remove(first);
  }
  return names;
}

std::vector<std::string> delivery_window::drop_all() {
  std::vector<std::string> names;
  while (!all_.empty()) {
    auto& first = all_.begin()->second;
    names.push_back(first.what->name);
    remove(first);
  }
  return names;
}

std::size_t delivery_window::count_removed() const {
  return static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(), [](const auto& each) { return each.second.is_removed; }));
}

}  // namespace zkrecipes::detail
