#include "limit/keyed_limiter.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/error.hpp>

#include <zkrecipes/flow/keyed_limiter.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "limit/arrival_rule.hpp"

namespace zkrecipes::detail {

key_table::key_table(limit_clock clock, const keyed_limiter_options& options, std::size_t most_keys)
    : options_(options),
      rule_(options.rate, options.per, options.burst),
      clock_(std::move(clock)),
      start_(options.start_empty ? rule_.empty(0) : 0),
      most_keys_(most_keys) {}

bool key_table::try_acquire(std::string_view key) {
  const auto now = clock_.now();
  std::lock_guard lock(mutex_);
  if (pass(key, moment(now))) return true;
  ++counted_.declined;
  return false;
}

/// Lets a call through if there is credit and nobody waits. A call that is refused adds no key.
bool key_table::pass(std::string_view key, ticks now) {
  const auto found = keys_.find(key);
  if (found != keys_.end()) return !found->second.waiting && advance_arrival(found->second, now);
  return rule_.due(start_, 1) <= now && advance_arrival(find_or_add(key, now).second, now);
}

bool key_table::advance_arrival(entry& of, ticks now) {
  if (rule_.due(of.arrival, 1) > now) return false;
  of.arrival = rule_.behind(of.arrival, 1, now);
  ++counted_.acquired;
  return true;
}

void key_table::acquire(acquire_handler handler, std::string key) {
  const auto& on = *clock_.get_scheduler();
  const auto mine = make_waiter(on, std::move(handler), 1, clock_.now());
  ended_waiters over;
  {
    std::lock_guard lock(mutex_);
    mine->came = moment(mine->came);
    if (pass(key, mine->came)) {
      over.add(mine, error_code());
    } else {
      get_in_line(mine, key, over);
    }
  }
  over.complete_all(on);
}

void key_table::get_in_line(const acquire_waiter_ptr& mine, std::string_view key, ended_waiters& over) {
  auto& at = find_or_add(key, mine->came);
  const bool is_first = !at.second.waiting;
  if (!is_first && options_.coalesce) {
    const bool is_mine = *options_.coalesce == keep::first;
    over.add(is_mine ? mine : at.second.waiting->waiters.pop(), errc::declined);
    ++counted_.declined;
    ++counted_.coalesced;
    counted_.waiting -= is_mine ? 0 : 1;
    if (is_mine) return;
  }
  if (is_first) at.second.waiting = std::make_shared<line>(line{&at, {}, nullptr});
  auto& own = *at.second.waiting;
  listen(mine, at.second.waiting);  // before anything can end the wait: the handler uses the slot again
  own.waiters.push(mine);
  ++counted_.waiting;
  if (is_first) begin_line(at);
}

void key_table::begin_line(node& at) {
  if (lines_++ == 0) keep_until_shutdown(clock_.get_scheduler()->strand, shared_from_this());
  auto& mine = at.second.waiting;
  mine->timer = std::make_shared<line_timer>(clock_, [weak = weak_from_this(), weak_line = std::weak_ptr(mine)] {
    auto self = weak.lock();
    auto alive = weak_line.lock();
    if (self && alive) self->serve(alive);
  });
  mine->timer->set(rule_.due(at.second.arrival, 1));
}

key_table::kept key_table::end_line(node& at) {
  at.second.waiting->timer->clear();
  at.second.waiting.reset();
  if (!at.second.is_listed) list_end(at);
  return --lines_ == 0 ? release(clock_.get_scheduler()->strand, this) : nullptr;
}

void key_table::listen(const acquire_waiter_ptr& mine, const line_ptr& at) {
  auto slot = asio::get_associated_cancellation_slot(mine->handler);
  if (!slot.is_connected()) return;
  slot.assign([weak = weak_from_this(), weak_line = std::weak_ptr(at),
               waiter = std::weak_ptr(mine)](asio::cancellation_type type) {
    auto self = weak.lock();
    auto alive = weak_line.lock();
    auto which = waiter.lock();
    if (self && alive && which && type != asio::cancellation_type::none) self->cancel(alive, *which);
  });
}

void key_table::cancel(const line_ptr& at, acquire_waiter& which) {
  kept last;
  ended_waiters over;
  {
    std::lock_guard lock(mutex_);
    if (!which.waits) return;
    over.add(at->waiters.remove(which), asio::error::operation_aborted);
    --counted_.waiting;
    if (at->waiters.empty()) last = end_line(*at->where);
  }
  over.complete_all(*clock_.get_scheduler());
}

/// The first one of a line is due.
void key_table::serve(const line_ptr& at) {
  kept last;
  ended_waiters over;
  {
    std::lock_guard lock(mutex_);
    if (!at->waiters.empty()) last = advance(*at->where, over);
  }
  over.complete_all(*clock_.get_scheduler());
}

/// Lets through those at the head of the line for which there is credit.
key_table::kept key_table::advance(node& at, ended_waiters& over) {
  const auto now = clock_.now();
  auto& waiters = at.second.waiting->waiters;
  while (!waiters.empty() && advance_arrival(at.second, now)) {
    auto which = waiters.pop();
    --counted_.waiting;
    ++counted_.waited;
    time_waited_ = limit_clock::sum(time_waited_, limit_clock::length_of(now - which->came));
    over.add(std::move(which), error_code());
  }
  if (waiters.empty()) return end_line(at);
  at.second.waiting->timer->set(rule_.due(at.second.arrival, 1));
  return nullptr;
}

void key_table::hold_off(std::string_view key, lease_clock::duration length) {
  if (length <= lease_clock::duration::zero()) return;
  const auto now = clock_.now();
  const auto until = rule_.held_until(now + limit_clock::ticks_of(std::min(length, longest_hold_off)));
  std::lock_guard lock(mutex_);
  auto& at = find_or_add(key, moment(now));
  if (at.second.arrival >= until) return;
  at.second.arrival = until;
  ++counted_.held_off;
  if (at.second.waiting) at.second.waiting->timer->set(rule_.due(until, 1));
}

void key_table::add_to(keyed_limiter_statistics& sum) const {
  std::lock_guard lock(mutex_);
  sum.acquired += counted_.acquired;
  sum.waited += counted_.waited;
  sum.declined += counted_.declined;
  sum.coalesced += counted_.coalesced;
  sum.held_off += counted_.held_off;
  sum.evicted += counted_.evicted;
  sum.waiting += counted_.waiting;
  sum.keys += keys_.size();
  sum.time_waited = limit_clock::sum(sum.time_waited, time_waited_);
}

/// The handlers are destroyed when the mutex is unlocked: one of them may own the last copy of a limiter.
void key_table::drop() {
  std::list<acquire_waiter_ptr> dropped;
  std::lock_guard lock(mutex_);
  for (auto& each : keys_) {
    auto& of = each.second;
    if (!of.waiting) continue;
    dropped.splice(dropped.end(), of.waiting->waiters.take_all());
    of.waiting->timer->drop();
    of.waiting.reset();
    if (!of.is_listed) list_end(each);
  }
  lines_ = 0;
  counted_.waiting = 0;
}

// Which keys are forgotten. The heap notes each entry once, with an arrival time that can only have grown since. So the
// entry on top is the nearest to its end if its time is still the noted one, and is noted anew otherwise.

void key_table::list_end(node& which) {
  which.second.is_listed = true;
  ends_.push_back({which.second.arrival, &which});
  std::push_heap(ends_.begin(), ends_.end());
}

/// Takes the entry that is the nearest to its end out of the heap. Entries with waiters on the way leave the heap, too:
/// they are noted again when nobody waits for them any more.
key_table::node* key_table::take_first_end() {
  while (!ends_.empty()) {
    std::pop_heap(ends_.begin(), ends_.end());
    const auto [noted, which] = ends_.back();
    ends_.pop_back();
    auto& of = which->second;
    of.is_listed = false;
    if (of.waiting) continue;
    if (of.arrival == noted) return which;
    list_end(*which);
  }
  return nullptr;
}

/// Two for each new one, so that the table shrinks when fewer keys are in use.
void key_table::remove_past(ticks now) {
  for (int i = 0; i < 2 && !ends_.empty() && ends_.front().earliest <= now; ++i) {
    auto* which = take_first_end();
    if (!which) return;
    if (which->second.arrival > now) return list_end(*which);
    keys_.erase(keys_.find(which->first));
  }
}

/// False if somebody waits for each key.
bool key_table::forget_one(ticks now) {
  auto* which = take_first_end();
  if (!which) return false;
  if (which->second.arrival > now) ++counted_.evicted;
  keys_.erase(keys_.find(which->first));
  return true;
}

key_table::node& key_table::find_or_add(std::string_view key, ticks now) {
  const auto found = keys_.find(key);
  if (found != keys_.end()) return *found;
  remove_past(now);
  while (keys_.size() >= most_keys_ && forget_one(now)) {
  }
  auto& added = *keys_.emplace(std::string(key), entry{start_, nullptr}).first;
  list_end(added);
  return added;
}

namespace {

constexpr std::size_t most_tables = 64;
constexpr std::size_t least_keys_of_a_table = 1024;  // keys spread unevenly, and more so over small tables

}  // namespace

keyed_limiter_state::keyed_limiter_state(scheduler_ptr on, const keyed_limiter_options& options)
    : options_(options), clock_(std::move(on)) {
  const auto parts = std::bit_floor(std::clamp<std::size_t>(options.most_keys / least_keys_of_a_table, 1, most_tables));
  const auto share = (options.most_keys + parts - 1) / parts;
  for (std::size_t i = 0; i < parts; ++i) tables_.push_back(std::make_shared<key_table>(clock_, options, share));
}

/// The low bits of the hash choose the place within a table.
key_table& keyed_limiter_state::table_of(std::string_view key) const {
  return *tables_[(key_table::hash()(key) >> 48) & (tables_.size() - 1)];
}

void keyed_limiter_state::acquire(acquire_handler handler, std::string key) {
  auto& table = table_of(key);
  table.acquire(std::move(handler), std::move(key));
}

keyed_limiter_statistics keyed_limiter_state::statistics() const {
  keyed_limiter_statistics sum;
  for (const auto& each : tables_) each->add_to(sum);
  return sum;
}

std::shared_ptr<keyed_limiter_state> make_keyed_limiter(const asio::any_io_executor& executor,
                                                        const keyed_limiter_options& options,
                                                        const world_factory& world) {
  check_rate("keyed_limiter_options", options);
  require_option(options.most_keys >= 1 && options.most_keys <= 100'000'000, "keyed_limiter_options", "most_keys",
                 std::to_string(options.most_keys), "it must be from 1 to 100000000");
  return std::make_shared<keyed_limiter_state>(make_scheduler("keyed_limiter", executor, world), options);
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

keyed_limiter::keyed_limiter(boost::asio::any_io_executor executor, keyed_limiter_options options)
    : state_(make_keyed_limiter(executor, options, &backend::make_real_world)) {}

bool keyed_limiter::try_acquire(std::string_view key) { return state_ && state_->try_acquire(key); }

void keyed_limiter::hold_off(std::string_view key, time_span<lease_clock::duration> for_time) {
  if (state_) state_->hold_off(key, for_time);
}

keyed_limiter_statistics keyed_limiter::statistics() const {
  return state_ ? state_->statistics() : keyed_limiter_statistics();
}

const keyed_limiter_options& keyed_limiter::options() const noexcept {
  static const keyed_limiter_options defaults;
  return state_ ? state_->options() : defaults;
}

keyed_limiter::executor_type keyed_limiter::get_executor() const noexcept {
  return state_ ? state_->get_scheduler().base : executor_type();
}

void keyed_limiter::start_acquire(acquire_handler h, state_ptr state, std::string key) {
  state->acquire(std::move(h), std::move(key));
}

}  // namespace zkrecipes
