// The simulated true time, which jumps from event to event.
#pragma once

#include <cstdint>
#include <vector>

#include "world/action.hpp"
#include "world/chance.hpp"

namespace zkrecipes::simulation {

class clockwork {
 public:
  instant now() const noexcept { return now_; }

  /// Events of the same moment happen in the order in which they were scheduled.
  void at(instant when, action what);
  void after(span delay, action what) { at(now_ + delay, std::move(what)); }

  /// Moves to the next event and runs it. False if there is none up to `limit`; the time is then `limit`.
  bool step(instant limit);

 private:
  /// An element of the heap. It is small, because the heap moves its elements; the action stays in `actions_`.
  struct event {
    instant when;
    std::uint64_t number;
    std::size_t place;
  };
  static bool later(const event& a, const event& b) { return a.when != b.when ? a.when > b.when : a.number > b.number; }

  instant now_{0};
  std::uint64_t events_ = 0;
  std::vector<event> heap_;
  std::vector<action> actions_;    // indexed by `event::place`
  std::vector<std::size_t> free_;  // unused places in `actions_`
};

}  // namespace zkrecipes::simulation
