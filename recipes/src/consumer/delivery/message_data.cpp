#include "delivery/message_data.hpp"

#include <algorithm>
#include <memory>

namespace zkrecipes::detail {

void message_data::remove(const message_in_hand& which) {
  if (which.is_loaded) --here_;
  unwant(which);
}

void message_data::load(message_in_hand& which, message what) {
  // An attempt that could not be counted on the servers counts here.
  const bool is_same = what.stat.czxid == which.what->stat.czxid;
  if (is_same) what.attempts = std::max(what.attempts, which.what->attempts);
  if (!is_same || what.stat.version != which.what->stat.version) which.cost.reset();
  which.what = std::make_shared<message>(std::move(what));
  unwant(which);
  if (!std::exchange(which.is_loaded, true)) ++here_;
}

void message_data::unload(message_in_hand& which) {
  if (!which.is_loaded) return;
  which.is_loaded = false;
  auto rest_of_it = std::make_shared<message>();
  rest_of_it->name = which.what->name;
  rest_of_it->stat = which.what->stat;
  rest_of_it->attempts = which.what->attempts;
  which.what = std::move(rest_of_it);
  --here_;
}

void message_data::unload_waiting(const message_lanes::members& lane) {
  for (const auto number : lane) {
    auto& each = all_.at(number);
    if (!each.is_begun()) unload(each);
    unwant(each);
  }
}

void message_data::want(const message_lanes::members& lane) {
  for (const auto number : lane) {
    if (!all_.at(number).is_loaded) wanted_.insert(number);
  }
}

}  // namespace zkrecipes::detail
