// Those that wait for one limit, in order of arrival.
#pragma once

#include <list>
#include <utility>

#include "limit/acquire_waiter.hpp"

namespace zkrecipes::detail {

/// Guarded by its owner's mutex.
class waiting_line {
 public:
  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }
  const acquire_waiter& front() const noexcept { return *all_.front(); }
  std::int64_t cost() const noexcept { return cost_; }  ///< That of all together.

  void push(acquire_waiter_ptr which) {
    cost_ += which->cost;
    which->waits = true;
    all_.push_back(which);
    which->place = std::prev(all_.end());
  }
  acquire_waiter_ptr pop() { return remove(*all_.front()); }
  acquire_waiter_ptr remove(acquire_waiter& which) {
    cost_ -= which.cost;
    which.waits = false;
    auto kept = std::move(*which.place);
    all_.erase(which.place);
    return kept;
  }
  std::list<acquire_waiter_ptr> take_all() {
    for (const auto& each : all_) each->waits = false;
    cost_ = 0;
    return std::exchange(all_, {});
  }
  /// Takes out those that can not be let through by their deadline any more.
  template <class Late>
  void remove_late(const arrival_rule& rule, ticks arrival, Late late) {
    std::int64_t ahead = 0;
    for (auto each = all_.begin(); each != all_.end();) {
      auto& one = **each++;
      if (rule.due(arrival, one.cost, ahead) > one.deadline) {
        late(remove(one));
      } else {
        ahead += one.cost;
      }
    }
  }

 private:
  std::list<acquire_waiter_ptr> all_;
  std::int64_t cost_ = 0;
};

}  // namespace zkrecipes::detail
