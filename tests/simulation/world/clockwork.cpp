#include "world/clockwork.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::simulation {

void clockwork::at(instant when, action what) {
  if (free_.empty()) {
    free_.push_back(actions_.size());
    actions_.emplace_back();
  }
  const auto place = free_.back();
  free_.pop_back();
  actions_[place] = std::move(what);
  heap_.push_back({std::max(when, now_), events_++, place});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

bool clockwork::step(instant limit) {
  if (heap_.empty() || heap_.front().when > limit) {
    now_ = limit;
    return false;
  }
  const auto next = heap_.front();
  std::pop_heap(heap_.begin(), heap_.end(), later);
  heap_.pop_back();
  now_ = next.when;
  auto what = std::move(actions_[next.place]);
  free_.push_back(next.place);
  what();
  return true;
}

}  // namespace zkrecipes::simulation
