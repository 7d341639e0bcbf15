#include "world/clockwork.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::simulation {

void clockwork::at(instant when, std::function<void()> what) {
  heap_.push_back({std::max(when, now_), events_++, std::move(what)});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

bool clockwork::step(instant limit) {
  if (heap_.empty() || heap_.front().when > limit) {
    now_ = limit;
    return false;
  }
  std::pop_heap(heap_.begin(), heap_.end(), later);
  auto next = std::move(heap_.back());
  heap_.pop_back();
  now_ = next.when;
  next.what();
  return true;
}

}  // namespace zkrecipes::simulation
