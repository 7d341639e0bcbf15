#include "backend/zookeeper/timer_queue.hpp"

#include <algorithm>
#include <chrono>

namespace zkrecipes::backend {

namespace {

/// For how long the machine has been suspended: the clock of the library counts that time, the timer does not.
lease_clock::duration suspended(lease_clock::time_point present) {
  return present.time_since_epoch() - std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

/// What the callbacks own is destroyed last, because it may cancel timers.
timer_queue::~timer_queue() {
  times_.clear();
  const auto dropped = std::exchange(waiting_, {});
}

timer_id timer_queue::call_at(lease_clock::time_point when, std::function<void()> what) {
  const auto id = ++last_;
  times_.emplace(id, when);
  try {
    waiting_.emplace(std::pair(when, id), std::move(what));
    const auto present = lease_clock::now();
    if (!is_set_in_time(when, present)) set(present);
  } catch (...) {
    cancel(id);
    throw;
  }
  return id;
}

bool timer_queue::is_set_in_time(lease_clock::time_point when, lease_clock::time_point present) const {
  constexpr lease_clock::duration reading = std::chrono::milliseconds(1);  // the two clocks are not read at once
  return present < set_to_ && set_to_ <= when && suspended(present) <= suspended_ + reading;
}

void timer_queue::cancel(timer_id id) {
  const auto found = times_.find(id);
  if (found == times_.end()) return;
  const auto dropped = waiting_.extract({found->second, id});  // destroyed last: what it owns may cancel other timers
  times_.erase(found);
  // A context without anything else to do must not go on for the sake of a timer that nobody waits for.
  if (waiting_.empty()) unset();
}

/// If there is no memory for it, the present wait goes on: the timers before this one run out all the same.
void timer_queue::set(lease_clock::time_point present) {
  const auto first = std::max(waiting_.begin()->first.first, present);
  boost::asio::steady_timer next(timer_.get_executor(), first - present);
  next.async_wait([weak = weak_from_this()](const error_code& error) {
    auto alive = weak.lock();
    if (!error && alive) alive->ring();
  });
  timer_ = std::move(next);
  set_to_ = first;
  suspended_ = suspended(present);
}

void timer_queue::unset() {
  set_to_ = lease_clock::time_point::min();
  timer_.cancel();
}

/// An exception of a callback leaves the context. The other timers run out all the same.
void timer_queue::ring() {
  const auto go_on = [this] {
    if (!is_stopped_ && !waiting_.empty()) set(lease_clock::now());
  };
  try {
    call_due();
  } catch (...) {
    go_on();
    throw;
  }
  go_on();
}

/// A callback may cancel other timers, set new ones, or end the world.
void timer_queue::call_due() {
  const auto present = lease_clock::now();
  while (!is_stopped_ && !waiting_.empty() && waiting_.begin()->first.first <= present) {
    auto due = waiting_.extract(waiting_.begin());
    times_.erase(due.key().second);
    due.mapped()();
  }
}

}  // namespace zkrecipes::backend
