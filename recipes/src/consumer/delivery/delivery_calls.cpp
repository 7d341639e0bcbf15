#include "delivery/delivery_calls.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backend/begin_once.hpp"
#include "career/term_state.hpp"
#include "delivery/circuit_breaker.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

delivery_limiter::delivery_limiter(const message_limit& how, std::optional<lease_clock::time_point> arrival,
                                   lease_clock::time_point now)
    : how_(how),
      rule_(how.rate, how.per, how.burst),
      origin_(now),
      arrival_(arrival ? std::clamp<ticks>(ticks_of(*arrival), 0, latest_arrival(now)) : rule_.empty(0)) {}

ticks delivery_limiter::latest_arrival(lease_clock::time_point now) const {
  return rule_.empty(ticks_of(now + longest_pause));
}

std::uint64_t delivery_limiter::cost_of(message_in_hand& which) const {
  if (!which.cost) {
    try {
      which.cost = how_.cost ? std::min(how_.cost(*which.what), how_.burst) : 1;
    } catch (...) {
      which.cost = how_.burst;
    }
  }
  return *which.cost;
}

lease_clock::time_point delivery_limiter::due(message_in_hand& which, lease_clock::time_point now) {
  const auto cost = static_cast<std::int64_t>(cost_of(which));
  return cost == 0 ? now : time_of(rule_.due(arrival_, cost));
}

void delivery_limiter::charge(message_in_hand& which, lease_clock::time_point now) {
  const auto cost = static_cast<std::int64_t>(cost_of(which));
  if (cost > 0) arrival_ = rule_.behind(arrival_, cost, ticks_of(now));
}

void delivery_limiter::hold_off(lease_clock::time_point until) {
  arrival_ = std::max(arrival_, rule_.held_until(ticks_of(until)));
}

namespace {

/// A `process` that returns `hold_off` with 0 and is not ready would be called again without a pause, which takes a
/// whole processor.
constexpr std::chrono::milliseconds shortest_hold_off{10};

}  // namespace

/// A predecessor that has not left its level may have used all credit, so the run begins with none.
void call_limit::take_up() {
  auto& notes = term_->notes();
  const auto& limit = frame_.options.limit;
  if (!limit) return notes.set_limit_arrival(std::nullopt);  // calls that do not count may follow
  const auto now = term_->session()->now();
  auto arrival = notes.limit_arrival();
  if (!arrival && notes.has_all_credit()) arrival = now;
  limiter_.emplace(*limit, arrival, now);
  notes.set_limit_arrival(limiter_->arrival());
}

bool call_limit::lets_through(message_in_hand& next) {
  if (!limiter_) return true;
  const auto now = term_->session()->now();
  const auto due = limiter_->due(next, now);
  if (due <= now) return true;
  limited_until_ = due;
  next.has_waited = true;
  return false;
}

void call_limit::charge(message_in_hand& which) {
  if (!limiter_) return;
  limiter_->charge(which, which.begun);
  term_->notes().set_limit_arrival(limiter_->arrival());
  if (!std::exchange(which.has_waited, false)) return;
  frame_.board.change([](queue_consumer_status& status) { ++status.waited; });
}

/// A pause of 0 takes no credit away.
void call_limit::hold_off(const message_outcome& asked) {
  const auto pause = bounded(asked.after().value_or(std::chrono::milliseconds(0)));
  const auto now = term_->session()->now();
  const auto until = now + pause;
  last_held_ = now;
  held_off_until_ = std::max({held_off_until_, until, now + shortest_hold_off});
  if (held_since_ == never) {
    held_since_ = now;
    held_reason_ = asked.reason();
  }
  if (!limiter_ || pause.count() == 0) return;
  limiter_->hold_off(until);
  term_->notes().set_limit_arrival(limiter_->arrival());
}

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_together = 256;
constexpr auto longest_together = 1ms;
constexpr auto first_look = 2 * longest_together;

}  // namespace

delivery_calls::delivery_calls(term_ptr term, asio::any_io_executor executor, const surroundings& of)
    : term_(std::move(term)), executor_(std::move(executor)), of_(of) {}

void delivery_calls::begin(message_in_hand& which, const std::shared_ptr<void>& run) {
  const auto& on = *term_->session()->get_scheduler();
  of_.window.begin(which, on.now());
  of_.limit.charge(which);
  of_.breaker.on_begun();
  ++begun_;
  auto begun = std::make_shared<process_call>();
  begun->messages.push_back({which.number, which.what, which.begun});
  begun->begun = which.begun;
  begun->next_look = which.begun + first_look;
  if (may_take_along()) take_along(*begun);
  auto body = call(std::shared_ptr<delivery_calls>(run, this), begun);
  begun->run = start_task(on, executor_, std::move(body), of_.news.changed, run);
  calls_.push_back(std::move(begun));
}

/// In strict order a message may be begun when the one before has been processed. Where that takes no time, the way to
/// the strand and back would cost several times as much as the call itself. So a call takes along the messages behind
/// its own for which nothing has to be done first, and goes on with them while the calls end at once.
void delivery_calls::take_along(process_call& with) {
  for (const auto* each : of_.window.behind(of_.window.at(with.number()), most_together - 1)) {
    const auto& what = *each->what;
    const bool is_plain = of_.frame.source->problem_of(what.name).empty() && !of_.parked.has(each->lane) &&
                          !of_.watch.is_suspect(what.name) && !of_.watch.must_be_named(what);
    if (!is_plain) return;
    with.messages.push_back({each->number, each->what});
  }
}

bool delivery_calls::may_take_along() const {
  const auto& options = of_.frame.options;
  return options.order == message_order::strict && options.delivery != delivery_guarantee::at_most_once &&
         !of_.limit.is_used() && !of_.repeats.is_used() && !of_.watch.is_on() && !of_.breaker.is_open();
}

/// Runs on the executor of the career. The lease is checked right before each call of `process`: the executor may have
/// been busy, or the process asleep.
awaitable<void> delivery_calls::call(std::shared_ptr<delivery_calls> self, call_ptr which) {
  const auto begun = self->term_->session()->now();
  auto now = begun;
  call_progress progress;
  for (auto& each : which->messages) {
    if (self->term_->ending() || now >= self->term_->seat()->valid_until()) {
      which->has_lapsed = true;
      co_return;
    }
    each.begun = now;
    ++progress.begun;
    which->progress = progress;
    each.outcome = co_await self->of_.frame.process(zkrecipes::term(self->term_), *each.what);
    ++progress.ended;
    which->progress = progress;
    if (!lets_pass(*each.outcome) || which->is_last) co_return;
    now = self->term_->session()->now();
    if (now - begun >= longest_together) co_return;
  }
}

void delivery_calls::take_ended(lease_clock::time_point now) {
  for (auto each = calls_.begin(); each != calls_.end();) {
    if ((*each)->run->done) {
      const auto ended = *each;
      each = calls_.erase(each);
      end_call(*ended);
    } else {
      take_early(**each, now);
      ++each;
    }
  }
  std::erase_if(given_up_, [](const call_ptr& each) { return each->run->done; });
}

/// A message takes long that was taken along. What came before it is not to wait for its end, but to be committed. A
/// first message that is void waits again, and must not be begun while the call goes on.
void delivery_calls::take_early(process_call& of, lease_clock::time_point now) {
  if (of.taken > 0 || now < of.next_look) return;
  of.next_look = now + (now - of.begun);
  const auto progress = of.progress.load();
  const std::size_t present = progress.ended;
  if (!progress.is_at_work() || present == 0 || of_.window.at(of.number()).is_void) return;
  if (!of_.window.find_waiting(of.messages[present].number)) return;
  take_outcomes(of, present);
  of_.window.begin(*of_.window.find_waiting(of.messages[present].number), of.messages[present].begun);
  of.taken = present;
}

void delivery_calls::evict(lease_clock::time_point now) {
  if (!of_.frame.options.duplicates) return;
  const auto safety = of_.frame.options.duplicates->safety;
  for (const auto number : of_.window.waited_for()) {
    if (end_of(safety, of_.window.at(number).begun) > now) return;
    const auto which = std::ranges::find(calls_, number, [](const call_ptr& each) { return each->number(); });
    cancel((*which)->run, asio::cancellation_type::terminal);
    of_.frame.board.change([](queue_consumer_status& status) { ++status.evicted; });
    give_up(which, "it took longer than message_duplicates::safety while another message of its key waited");
  }
}

lease_clock::time_point delivery_calls::next_eviction() const {
  if (!of_.frame.options.duplicates) return never;
  const auto waited_for = of_.window.waited_for();
  if (waited_for.empty()) return never;
  return end_of(of_.frame.options.duplicates->safety, of_.window.at(waited_for.front()).begun);
}

lease_clock::time_point delivery_calls::next_look(lease_clock::time_point now) const {
  auto next = never;
  for (const auto& each : calls_) {
    const bool is_looked_at = each->messages.size() > 1 && each->taken == 0 && each->next_look > now;
    if (is_looked_at) next = std::min(next, each->next_look);
  }
  return next;
}

/// What was begun before runs, on the executor of the career, before the inner call does.
void delivery_calls::report_turn(const std::shared_ptr<void>& run) {
  begin_once(is_turning_, [&] {
    asio::post(executor_, [self = std::shared_ptr<delivery_calls>(run, this), so_many = begun_] {
      asio::post(self->term_->session()->strand(), [self, so_many] {
        self->turned_ = so_many;
        self->is_turning_ = false;
        self->of_.news.notify();
      });
    });
  });
}

/// The call has failed, and is not waited for any more, because it may never end.
void delivery_calls::give_up(calls::iterator which, const char* reason) {
  auto& call = **which;
  given_up_.splice(given_up_.end(), calls_, which);
  call.is_last = true;
  const auto progress = call.progress.load();
  take_outcomes(call, progress.ended);
  const bool is_at_work =
      progress.begun == 0 || progress.is_at_work();  // the first counts from its begin on the strand
  if (is_at_work) take_failure(call, progress.ended, reason);
}

lease_clock::time_point delivery_calls::working_since() const {
  auto since = of_.window.stages().working_since();
  for (const auto& each : given_up_) since = std::min(since, each->begun);
  return since;
}

/// A call that was cut, was not made, or reports by its exception that the term is over, has not failed.
void delivery_calls::end_call(process_call& which) {
  const auto& failure = which.run->failure;
  const bool is_over = term_->reason() || term_->seat()->bound()->ended;
  const bool has_failed = failure && !(is_over && is_end_of_term(failure));
  const std::size_t ended = which.progress.load().ended;
  has_lapsed_ = has_lapsed_ || (which.has_lapsed && !is_cut_);
  auto& first = of_.window.at(which.number());
  if (!is_cut_ && (has_failed || ended > which.taken)) {
    const bool is_void = first.is_void;
    take_outcomes(which, ended);
    if (has_failed && (ended == which.taken || !is_void)) take_failure(which, ended, text_of(failure));
  } else if (first.is_removed) {
    of_.frame.board.change([](queue_consumer_status& status) { ++status.lost; });
    of_.window.remove(first);
  } else {
    put_back(first);
  }
}

/// Those that have not been taken yet. If a message in front of the first of them was refused meanwhile, none counts:
/// the first waits again, as the others do.
void delivery_calls::take_outcomes(process_call& of, std::size_t ended) {
  const bool is_void = of_.window.at(of.number()).is_void;
  for (auto i = of.taken; i < ended && (i == of.taken || !is_void); ++i) {
    auto* whose = begun_message(of, i);
    if (!whose) return;
    take_outcome(*whose, std::move(*of.messages[i].outcome));
  }
}

void delivery_calls::take_failure(process_call& of, std::size_t place, std::string reason) {
  if (auto* whose = begun_message(of, place)) take_outcome(*whose, message_outcome::again(std::move(reason)));
}

/// The message at this place of the call. One that was taken along is begun now, if it still waits.
message_in_hand* delivery_calls::begun_message(const process_call& of, std::size_t place) {
  const auto number = of.messages[place].number;
  if (place == of.taken) return &of_.window.at(number);
  auto* whose = of_.window.find_waiting(number);
  if (!whose || whose->at != message_in_hand::stage::waiting) return nullptr;
  of_.window.begin(*whose, of.messages[place].begun);
  return whose;
}

/// It is tried again at once, and no attempt counts.
void delivery_calls::put_back(message_in_hand& which) {
  which.is_void = false;
  of_.watch.put_back(which.what->name);
  of_.window.restart(which);
}

void delivery_calls::take_outcome(message_in_hand& which, message_outcome outcome) {
  const auto& options = of_.frame.options;
  if (options.delivery != delivery_guarantee::effectively_once && !outcome.effects().empty()) {
    outcome = message_outcome::again("effects were returned, although delivery is not effectively_once");
  }
  const auto what = outcome.what();
  if (what == message_outcome::kind::hold_off) {
    of_.limit.hold_off(outcome);
    of_.watch.retract();  // it is not about to be begun any more
    return put_back(which);
  }
  of_.limit.go_on();
  if (which.is_removed) {  // at most once: there is nothing left to settle
    const bool is_done = what == message_outcome::kind::done;
    if (is_done) of_.breaker.on_success(term_->session()->now());
    if (what == message_outcome::kind::again) {
      of_.log.attempt_failed(*which.what, outcome.reason());
      of_.breaker.on_failure(which, outcome.reason(), false, term_->session()->now());
    }
    of_.frame.board.change([&](queue_consumer_status& status) { ++(is_done ? status.done : status.lost); });
    return of_.window.remove(which);
  }
  if (what == message_outcome::kind::again) {
    of_.frame.board.change([](queue_consumer_status& status) { ++status.again; });
    if (!which.is_void) of_.log.attempt_failed(*which.what, outcome.reason());
    if (!which.is_void && of_.breaker.spares(which, outcome, false, term_->session()->now()))
      return of_.watch.put_back(which.what->name);
  }
  if (!of_.window.finish(which, std::move(outcome))) of_.watch.put_back(which.what->name);
}

void delivery_calls::cut(bool is_stalled) {
  is_cut_ = true;
  const auto oldest = working_since();
  for (const auto& each : given_up_) cancel(each->run, asio::cancellation_type::terminal);
  for (auto next = calls_.begin(); next != calls_.end();) {
    const auto each = next++;
    (*each)->is_last = true;
    cancel((*each)->run, asio::cancellation_type::terminal);
    const auto& whose = of_.window.at((*each)->number());
    if (!is_stalled || whose.begun != oldest || whose.is_void || (*each)->run->done) continue;
    give_up(each, "it took longer than career_traits::stall_limit");
  }
}

}  // namespace zkrecipes::detail
