#include "rate/slice_share.hpp"

#include <algorithm>

#include <boost/asio/error.hpp>

#include "limit/arrival_rule.hpp"

namespace zkrecipes::detail {

slice_credit::slice_credit(std::uint64_t rate, lease_clock::duration per, std::uint64_t burst, std::uint32_t slices)
    : interval_(arrival_rule::round_up(per.count() * ticks_per_nanosecond * static_cast<ticks>(slices),
                                       static_cast<ticks>(rate))),
      room_(interval_ * static_cast<ticks>(burst) / static_cast<ticks>(slices)),
      largest_cost_(burst / slices) {}

void slice_credit::gain(std::uint32_t how_many, ticks now) {
  refill(now);
  owned_ += how_many;
}

void slice_credit::lose(std::uint32_t how_many) {
  owned_ -= how_many;
  content_ = std::min(content_, whole_room());
}

bool slice_credit::take(std::uint64_t cost, ticks now) {
  refill(now);
  const auto needed = interval_ * static_cast<ticks>(cost);
  if (now < held_until_ || content_ < needed) return false;
  content_ -= needed;
  return true;
}

bool slice_credit::hold(ticks until, ticks now) {
  refill(now);
  if (until <= held_until_) return false;
  held_until_ = until;
  content_ = std::min(content_, interval_);
  return true;
}

ticks slice_credit::due(std::uint64_t cost) const noexcept {
  if (owned_ == 0) return no_ticks_limit;
  auto after = *this;
  const auto start = std::max(filled_at_, held_until_);
  after.refill(start);
  const auto missing = std::max<ticks>(interval_ * static_cast<ticks>(cost) - after.content_, 0);
  return start + arrival_rule::round_up(missing, owned_);
}

void slice_credit::refill(ticks now) {
  const auto held = std::min(now, held_until_);
  if (held > filled_at_) {
    earn(held - filled_at_, interval_);
    filled_at_ = held;
  }
  if (now > filled_at_) {
    earn(now - filled_at_, whole_room());
    filled_at_ = now;
  }
}

/// A slice fills its own room in `room_` ticks, so the product of a shorter time and the slices can not overflow.
void slice_credit::earn(ticks length, ticks room) {
  if (owned_ == 0) return;
  const auto space = std::max<ticks>(room - content_, 0);
  const bool is_filled = length >= room_ || length * owned_ >= space;
  if (is_filled) unused_ += (static_cast<double>(length) * owned_ - static_cast<double>(space)) / interval_;
  content_ += is_filled ? space : length * owned_;
}

namespace {

constexpr ticks between_looks = 10'000'000 * ticks_per_nanosecond;  // 10 ms

}  // namespace

slice_share::slice_share(scheduler_ptr on, const slice_credit& credit) : clock_(std::move(on)), credit_(credit) {}

bool slice_share::try_acquire(std::uint64_t cost) {
  std::lock_guard lock(mutex_);
  const bool is_let_through =
      credit_.takes(cost) && line_.empty() && pass(static_cast<std::int64_t>(cost), clock_.now());
  if (!is_let_through) ++counted_.declined;
  return is_let_through;
}

/// Ahead of every change of the credit.
void slice_share::look_if_due(ticks now) {
  if (now >= look_at_ || !is_current(now)) look(now);
}

/// Finds out which slices count. Those that do not any more are taken away first.
void slice_share::look(ticks now) {
  look_at_ = now + between_looks;
  sample_ = nullptr;
  std::uint32_t valid = 0;
  for (auto& [number, each] : slices_) {
    each.counts = is_valid(each, now);
    if (!each.counts) continue;
    sample_ = &each;
    ++valid;
  }
  if (valid < credit_.owned()) credit_.lose(credit_.owned() - valid);
  if (valid > credit_.owned()) credit_.gain(valid - credit_.owned(), now);
}

bool slice_share::pass(std::int64_t cost, ticks now) {
  look_if_due(now);
  if (!credit_.take(static_cast<std::uint64_t>(cost), now)) return false;
  ++counted_.acquired;
  return true;
}

void slice_share::add(std::uint32_t number, validity until) {
  kept last;
  ended_waiters over;
  {
    std::lock_guard lock(mutex_);
    const auto now = clock_.now();
    look_if_due(now);
    auto& added = slices_[number];
    if (added.counts) credit_.lose(1);
    added.until = std::move(until);
    added.counts = is_valid(added, now);
    if (added.counts) credit_.gain(1, now);
    if (added.counts && !sample_) sample_ = &added;
    if (!line_.empty()) last = advance(over);
  }
  over.complete_all(*clock_.get_scheduler());
}

/// A slice that is still valid has earned until now.
void slice_share::remove(std::uint32_t number) {
  decltype(slices_)::node_type removed;  // destroyed when the mutex is unlocked: it may own a term
  std::lock_guard lock(mutex_);
  const auto now = clock_.now();
  look_if_due(now);
  credit_.refill(now);
  removed = slices_.extract(number);
  if (!removed || !removed.mapped().counts) return;
  credit_.lose(1);
  if (sample_ == &removed.mapped()) {
    const bool is_other = !slices_.empty() && slices_.begin()->second.counts;
    sample_ = is_other ? &slices_.begin()->second : nullptr;
    if (!sample_) look_at_ = now;
  }
  if (!line_.empty()) set_timer(now);
}

void slice_share::open(std::uint64_t run) {
  std::lock_guard lock(mutex_);
  run_ = run;
  is_closed_ = false;
}

void slice_share::close(std::uint64_t run) {
  kept last;
  ended_waiters over;
  {
    std::lock_guard lock(mutex_);
    if (run != run_) return;
    is_closed_ = true;
    const bool somebody_waits = !line_.empty();
    while (!line_.empty()) over.add(without_deadline(line_.pop()), errc::closed);
    if (somebody_waits) last = end_line();
  }
  over.complete_all(*clock_.get_scheduler());
}

void slice_share::acquire(acquire_handler handler, std::uint64_t cost, time_budget budget) {
  const auto& on = *clock_.get_scheduler();
  const auto began = clock_.now();
  const auto mine =
      make_waiter(on, std::move(handler), static_cast<std::int64_t>(cost), began, limit_clock::end_of(budget, began));
  std::optional<error_code> answer;
  {
    std::lock_guard lock(mutex_);
    answer = credit_.takes(cost) ? get_in_line(mine) : make_error_code(errc::bad_arguments);
  }
  if (answer) complete(on, *mine, *answer);
}

/// Returns what to tell the operation if it does not have to wait.
std::optional<error_code> slice_share::get_in_line(const acquire_waiter_ptr& mine) {
  if (is_closed_) return errc::closed;
  const auto now = clock_.now();
  const bool is_first = line_.empty();
  if (is_first && pass(mine->cost, now)) return error_code();
  if (mine->deadline <= now) {
    ++counted_.declined;
    return errc::timed_out;
  }
  listen(mine);  // before anything can end the wait, because the handler uses the slot for its next operation
  line_.push(mine);
  if (mine->deadline != no_ticks_limit) deadlines_.emplace(mine->deadline, mine.get());
  if (is_first) keep_until_shutdown(clock_.get_scheduler()->strand, shared_from_this());
  if (!timer_) {
    timer_ = std::make_shared<line_timer>(clock_, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->serve();
    });
  }
  set_timer(now);
  return std::nullopt;
}

acquire_waiter_ptr slice_share::without_deadline(acquire_waiter_ptr which) {
  deadlines_.erase({which->deadline, which.get()});
  return which;
}

void slice_share::listen(const acquire_waiter_ptr& mine) {
  on_cancellation(mine, [weak = weak_from_this()](acquire_waiter& which) {
    if (auto self = weak.lock()) self->cancel(which);
  });
}

void slice_share::cancel(acquire_waiter& which) {
  kept last;
  ended_waiters over;
  {
    std::lock_guard lock(mutex_);
    if (!which.waits) return;
    over.add(without_deadline(line_.remove(which)), asio::error::operation_aborted);
    last = advance(over);  // the waiter that is first now may cost less, and be due already
  }
  over.complete_all(*clock_.get_scheduler());
}

void slice_share::serve() {
  kept last;
  ended_waiters over;
  {
    std::lock_guard lock(mutex_);
    if (!line_.empty()) last = advance(over);
  }
  over.complete_all(*clock_.get_scheduler());
}

/// Ends those whose time is over, and lets those at the head of the line through for which there is credit.
slice_share::kept slice_share::advance(ended_waiters& over) {
  const auto now = clock_.now();
  while (!line_.empty() && pass(line_.front().cost, now)) {
    auto which = without_deadline(line_.pop());
    ++counted_.waited;
    counted_.time_waited = limit_clock::sum(counted_.time_waited, limit_clock::length_of(now - which->came));
    over.add(std::move(which), error_code());
  }
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    ++counted_.declined;
    over.add(without_deadline(line_.remove(*deadlines_.begin()->second)), errc::timed_out);
  }
  if (line_.empty()) return end_line();
  set_timer(now);
  return nullptr;
}

/// While slices that we own do not count, nobody tells us when they do again.
void slice_share::set_timer(ticks now) {
  auto when = credit_.due(static_cast<std::uint64_t>(line_.front().cost));
  if (!deadlines_.empty()) when = std::min(when, deadlines_.begin()->first);
  if (credit_.owned() < slices_.size()) when = std::min(when, now + between_looks);
  timer_->set(when);
}

slice_share::kept slice_share::end_line() {
  timer_->clear();
  return release(clock_.get_scheduler()->strand, this);
}

void slice_share::hold_off(lease_clock::duration length) {
  if (length <= lease_clock::duration::zero()) return;
  std::lock_guard lock(mutex_);
  const auto now = clock_.now();
  look_if_due(now);
  if (!credit_.hold(now + limit_clock::ticks_of(std::min(length, longest_hold_off)), now)) return;
  ++counted_.held_off;
  if (!line_.empty()) set_timer(now);
}

limiter_statistics slice_share::statistics() const {
  std::lock_guard lock(mutex_);
  auto all = counted_;
  all.waiting = line_.size();
  return all;
}

void slice_share::show_in(shared_limiter_status& status) const {
  std::lock_guard lock(mutex_);
  const auto now = clock_.time_of(clock_.now());
  for (const auto& [number, each] : slices_) {
    const auto end = each.until();
    if (end <= now) continue;
    status.valid_until = status.slices == 0 ? end : std::min(status.valid_until, end);
    ++status.slices;
  }
  status.unused = credit_.unused();
}

/// The handlers are destroyed when the mutex is unlocked: one of them may own the last copy of a limiter.
void slice_share::drop() {
  std::list<acquire_waiter_ptr> dropped;
  std::lock_guard lock(mutex_);
  deadlines_.clear();
  dropped = line_.take_all();
  if (timer_) timer_->drop();
}

}  // namespace zkrecipes::detail
