#include "limit/limiter.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/error.hpp>

#include <zkrecipes/flow/limiter.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "limit/arrival_rule.hpp"

namespace zkrecipes::detail {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::int64_t somebody_waits = 1;
/// The arrival time of a limiter that has ended: nothing can be later.
constexpr ticks over_for_good = INT64_MAX / 2;

constexpr ticks arrival_in(std::int64_t word) noexcept { return word >> 1; }
constexpr std::int64_t word_of(ticks arrival, std::int64_t flag) noexcept { return arrival * 2 + flag; }

}  // namespace

limiter_state::limiter_state(scheduler_ptr on, const limiter_options& options)
    : options_(options),
      rule_(options.rate, options.per, options.burst),
      clock_(std::move(on)),
      word_(word_of(std::max(limit_clock::ticks_of(options.level), options.start_empty ? rule_.empty(0) : 0), 0)) {}

ticks limiter_state::arrival() const noexcept { return arrival_in(word_.load(relaxed)); }

bool limiter_state::try_acquire(std::uint64_t cost) noexcept {
  const bool is_let_through = rule_.takes(cost) && pass(static_cast<std::int64_t>(cost), clock_.now(), 0);
  if (!is_let_through) declined_.fetch_add(1, relaxed);
  return is_let_through;
}

/// Lets a call through if there is credit, and the bit is as it has to be: 0, or 1 for the owner of the mutex.
bool limiter_state::pass(std::int64_t cost, ticks now, std::int64_t flag) noexcept {
  auto word = word_.load(relaxed);
  do {
    if ((word & somebody_waits) != flag || rule_.due(arrival_in(word), cost) > now) return false;
  } while (!word_.compare_exchange_weak(word, word_of(rule_.behind(arrival_in(word), cost, now), flag), relaxed));
  acquired_.fetch_add(1, relaxed);
  return true;
}

void limiter_state::acquire(acquire_handler handler, std::uint64_t cost, time_budget budget) {
  const auto now = clock_.now();
  const bool is_possible = rule_.takes(cost);
  const auto mine = make_waiter(get_scheduler(), std::move(handler), static_cast<std::int64_t>(cost), now,
                                limit_clock::end_of(budget, now));
  std::optional<error_code> answer;
  if (!is_possible) {
    answer = errc::bad_arguments;
  } else if (pass(mine->cost, now, 0)) {
    answer = error_code();
  } else {
    std::lock_guard lock(mutex_);
    answer = get_in_line(mine);
  }
  if (answer) complete(get_scheduler(), *mine, *answer);
}

/// Returns what to tell the operation if it does not have to wait.
std::optional<error_code> limiter_state::get_in_line(const acquire_waiter_ptr& mine) {
  if (taken_) return errc::closed;
  const bool is_first = line_.empty();
  if (is_first) word_.fetch_or(somebody_waits, relaxed);
  std::optional<error_code> answer;
  if (is_first && pass(mine->cost, mine->came, somebody_waits)) {
    answer = error_code();
  } else if (rule_.due(arrival(), mine->cost, line_.cost()) > mine->deadline) {
    declined_.fetch_add(1, relaxed);
    answer = errc::timed_out;
  }
  if (answer) {
    if (is_first) word_.fetch_and(~somebody_waits, relaxed);
    return answer;
  }
  listen(mine);  // before anything can end the wait, because the handler uses the slot for its next operation
  line_.push(mine);
  if (is_first) begin_line();
  return std::nullopt;
}

void limiter_state::begin_line() {
  keep_until_shutdown(get_scheduler().strand, shared_from_this());
  if (!timer_) {
    timer_ = std::make_shared<line_timer>(clock_, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->serve();
    });
  }
  timer_->set(rule_.due(arrival(), line_.front().cost));
}

limiter_state::kept limiter_state::end_line() {
  word_.fetch_and(~somebody_waits, relaxed);
  timer_->clear();
  return release(get_scheduler().strand, this);
}

void limiter_state::listen(const acquire_waiter_ptr& mine) {
  on_cancellation(mine, [weak = weak_from_this()](acquire_waiter& which) {
    if (auto self = weak.lock()) self->cancel(which);
  });
}

void limiter_state::cancel(acquire_waiter& which) {
  kept last;
  ended_waiters over;
  {
    std::lock_guard lock(mutex_);
    if (!which.waits) return;
    const bool is_first = &which == &line_.front();
    over.add(line_.remove(which), asio::error::operation_aborted);
    if (is_first) last = advance(over);  // the next one may need less
  }
  over.complete_all(get_scheduler());
}

/// The first one is due.
void limiter_state::serve() {
  kept last;
  ended_waiters over;
  {
    std::lock_guard lock(mutex_);
    if (!line_.empty()) last = advance(over);
  }
  over.complete_all(get_scheduler());
}

/// Lets through those at the head of the line for which there is credit.
limiter_state::kept limiter_state::advance(ended_waiters& over) {
  const auto now = clock_.now();
  while (!line_.empty() && pass(line_.front().cost, now, somebody_waits)) {
    auto which = line_.pop();
    ++waited_;
    time_waited_ = limit_clock::sum(time_waited_, limit_clock::length_of(now - which->came));
    over.add(std::move(which), error_code());
  }
  if (line_.empty()) return end_line();
  timer_->set(rule_.due(arrival(), line_.front().cost));
  return nullptr;
}

void limiter_state::hold_off(lease_clock::duration length) {
  if (length <= lease_clock::duration::zero()) return;
  const auto until = clock_.now() + limit_clock::ticks_of(std::min(length, longest_hold_off));
  if (!delay(rule_.held_until(until))) return;
  kept last;
  ended_waiters over;
  {
    std::lock_guard lock(mutex_);
    ++held_off_;
    if (line_.empty()) return;
    line_.remove_late(rule_, arrival(), [&](acquire_waiter_ptr late) {
      declined_.fetch_add(1, relaxed);
      over.add(std::move(late), errc::timed_out);
    });
    last = advance(over);
  }
  over.complete_all(get_scheduler());
}

/// Moves the arrival time on to `until`. False if it is there already.
bool limiter_state::delay(ticks until) noexcept {
  auto word = word_.load(relaxed);
  do {
    if (arrival_in(word) >= until) return false;
  } while (!word_.compare_exchange_weak(word, word_of(until, word & somebody_waits), relaxed));
  return true;
}

lease_clock::duration limiter_state::level() const {
  std::lock_guard lock(mutex_);
  return limit_clock::length_of(std::max<ticks>(taken_.value_or(arrival()) - clock_.now(), 0));
}

lease_clock::duration limiter_state::take_level() {
  kept last;
  ended_waiters over;
  {
    std::lock_guard lock(mutex_);
    if (!taken_)
      taken_ = arrival_in(word_.exchange(word_of(over_for_good, line_.empty() ? 0 : somebody_waits), relaxed));
    while (!line_.empty()) {
      over.add(line_.pop(), errc::closed);
      if (line_.empty()) last = end_line();
    }
  }
  over.complete_all(get_scheduler());
  return level();
}

limiter_statistics limiter_state::statistics() const {
  std::lock_guard lock(mutex_);
  return {acquired_.load(relaxed), waited_, declined_.load(relaxed), held_off_, line_.size(), time_waited_};
}

/// The handlers are destroyed when the mutex is unlocked: one of them may own the last copy of a limiter.
void limiter_state::drop() {
  std::list<acquire_waiter_ptr> dropped;
  std::lock_guard lock(mutex_);
  dropped = line_.take_all();
  word_.fetch_and(~somebody_waits, relaxed);
  if (timer_) timer_->drop();
}

std::shared_ptr<limiter_state> make_limiter(const asio::any_io_executor& executor, const limiter_options& options,
                                            const world_factory& world) {
  using namespace std::chrono_literals;
  const lease_clock::duration level = options.level;
  check_rate("limiter_options", options);
  require_option(level >= 0ns && level <= longest_level, "limiter_options", "level", in_nanoseconds(level),
                 "it must be from 0 to 732 days and 1 s");
  return std::make_shared<limiter_state>(make_scheduler("limiter", executor, world), options);
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

limiter::limiter(boost::asio::any_io_executor executor, limiter_options options)
    : state_(make_limiter(executor, options, &backend::make_real_world)) {}

bool limiter::try_acquire(std::uint64_t cost) noexcept { return state_ && state_->try_acquire(cost); }

void limiter::hold_off(time_span<lease_clock::duration> for_time) {
  if (state_) state_->hold_off(for_time);
}

lease_clock::duration limiter::level() const { return state_ ? state_->level() : lease_clock::duration::zero(); }

lease_clock::duration limiter::take_level() { return state_ ? state_->take_level() : lease_clock::duration::zero(); }

limiter_statistics limiter::statistics() const { return state_ ? state_->statistics() : limiter_statistics(); }

const limiter_options& limiter::options() const noexcept {
  static const limiter_options defaults;
  return state_ ? state_->options() : defaults;
}

limiter::executor_type limiter::get_executor() const noexcept {
  return state_ ? state_->get_scheduler().base : executor_type();
}

void limiter::start_acquire(acquire_handler h, state_ptr state, std::uint64_t cost) {
  state->acquire(std::move(h), cost, lease_clock::duration::max());
}

void limiter::start_acquire_for(acquire_handler h, state_ptr state, std::uint64_t cost, time_budget budget) {
  state->acquire(std::move(h), cost, budget);
}

}  // namespace zkrecipes
