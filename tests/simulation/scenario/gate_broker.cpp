#include "scenario/gate_broker.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace zkrecipes::simulation {

gate_broker::delivery gate_broker::take(int client) {
  const auto number = pick();
  auto& one = unsettled_[number];
  one.consumer = client;
  one.begun = 0;
  ++one.deliveries;
  const auto how = one.deliveries == 1 ? arrival::first : arrival::redelivered;
  return {number, one.deliveries, one.key, how, ++last_, 0};
}

/// A message that was given back, or a new one; once in a while one that its consumer is processing. Not one whose
/// consumer has yet to get in line: if that comes late, its node stands for a message that is settled.
int gate_broker::pick() {
  std::vector<int> back;
  std::vector<int> out;
  for (const auto& [number, each] : unsettled_) {
    if (each.consumer == nobody) back.push_back(number);
    if (each.begun != 0) out.push_back(number);
  }
  if (!out.empty() && chance_.one_in(12)) return out[chance_.below(out.size())];
  if (!back.empty() && chance_.one_in(2)) return back[chance_.below(back.size())];
  unsettled_[++made_].key = chance_.one_in(4) ? 1 : 0;
  return made_;
}

bool gate_broker::is_present(const delivery& which) const {
  const auto found = unsettled_.find(which.message);
  return found != unsettled_.end() && found->second.deliveries == which.number;
}

void gate_broker::begins(delivery& which) {
  which.begun = ++last_;
  if (is_present(which)) unsettled_[which.message].begun = which.begun;
}

void gate_broker::settle_declined(const delivery& which) {
  if (!is_present(which)) return;
  if (processed_[which.key] < which.called && excused_ < which.called) owed_.emplace(which.key, which.called);
  settle(which);
}

void gate_broker::give_back(const delivery& which) {
  if (!is_present(which)) return;
  auto& one = unsettled_[which.message];
  one.consumer = nobody;
  one.begun = 0;
}

void gate_broker::lose(int client) {
  for (auto& [number, each] : unsettled_) {
    if (each.consumer == client) each.consumer = nobody, each.begun = 0;
  }
}

bool gate_broker::settle(const delivery& which) {
  if (!is_present(which)) return false;
  unsettled_.erase(which.message);
  check_covered(which.key);
  return true;
}

void gate_broker::processed(std::uint64_t key, stamp begun) {
  processed_[key] = std::max(processed_[key], begun);
  std::erase_if(owed_, [&](const auto& each) { return each.first == key && each.second < begun; });
}

bool gate_broker::has_paid() const {
  return std::ranges::none_of(owed_, [this](const auto& each) { return each.second <= healed_; });
}

void gate_broker::check_covered(std::uint64_t key) const {
  const auto [first, last] = owed_.equal_range(key);
  for (auto each = first; each != last; ++each) {
    const auto covers = [&](const auto& one) {
      const auto& [number, what] = one;
      return what.key == key && (what.begun == 0 || what.begun > each->second);
    };
    in_.require(std::ranges::any_of(unsettled_, covers), "a declined message is processed later",
                "key " + std::to_string(key) + ", call " + std::to_string(each->second));
  }
}

}  // namespace zkrecipes::simulation
