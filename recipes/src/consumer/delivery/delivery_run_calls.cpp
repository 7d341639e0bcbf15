// The calls of `process` in a run.
#include <algorithm>
#include <utility>

#include "career/end_of_term.hpp"
#include "delivery/delivery_run.hpp"
#include "delivery/retry_pause.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_together = 256;
constexpr auto longest_together = 1ms;
constexpr auto first_look = 2 * longest_together;

}  // namespace

void delivery_run::begin(message_in_hand& which) {
  window_.begin(which, get_scheduler()->now());
  charge(which);
  breaker_.note_begun();
  ++begun_;
  auto begun = std::make_shared<process_call>();
  begun->messages.push_back({which.number, which.what, which.begun});
  begun->begun = which.begun;
  begun->next_look = which.begun + first_look;
  if (may_take_along()) take_along(*begun);
  begun->run = start_task(*get_scheduler(), executor_, call(shared_from_this(), begun), changed_, shared_from_this());
  calls_.push_back(std::move(begun));
}

/// In strict order a message may be begun when the one before has been processed. Where that takes no time, the way to
/// the strand and back would cost several times as much as the call itself. So a call takes along the messages behind
/// its own for which nothing has to be done first, and goes on with them while the calls end at once.
void delivery_run::take_along(process_call& with) {
  for (const auto* each : window_.behind(window_.at(with.number()), most_together - 1)) {
    const auto& what = *each->what;
    const bool is_plain = frame_->source->problem_of(what.name).empty() && !parked_.has(each->lane) &&
                          !probation_.is_suspect(what.name) && !probation_.must_be_named(what);
    if (!is_plain) return;
    with.messages.push_back({each->number, each->what});
  }
}

bool delivery_run::may_take_along() const {
  const auto& options = frame_->options;
  return options.order == message_order::strict && options.delivery != delivery_guarantee::at_most_once && !limiter_ &&
         !repeats_.is_used() && !probation_.is_on() && !breaker_.is_open();
}

/// Runs on the executor of the career. The lease is checked right before each call of `process`: the executor may have
/// been busy, or the process asleep.
awaitable<void> delivery_run::call(std::shared_ptr<delivery_run> self, call_ptr which) {
  const auto begun = self->get_scheduler()->now();
  auto now = begun;
  for (auto& each : which->messages) {
    if (self->term_->ending() || now >= self->term_->seat()->valid_until()) {
      which->has_lapsed = true;
      co_return;
    }
    each.begun = now;
    ++which->steps;
    each.outcome = co_await self->frame_->process(zkrecipes::term(self->term_), *each.what);
    ++which->steps;
    if (!delivery_window::lets_pass(*each.outcome) || which->is_last) co_return;
    now = self->get_scheduler()->now();
    if (now - begun >= longest_together) co_return;
  }
}

void delivery_run::end_calls(lease_clock::time_point now) {
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
void delivery_run::take_early(process_call& of, lease_clock::time_point now) {
  if (of.taken > 0 || now < of.next_look) return;
  of.next_look = now + (now - of.begun);
  const auto steps = of.steps.load(std::memory_order_acquire);
  const auto present = steps / 2;
  const bool is_at_work = steps % 2 != 0;
  if (!is_at_work || present == 0 || window_.at(of.number()).is_void) return;
  if (!window_.find_waiting(of.messages[present].number)) return;
  take_outcomes(of, present);
  window_.begin(*window_.find_waiting(of.messages[present].number), of.messages[present].begun);
  of.taken = present;
}

/// Gives up calls that take too long while another message of their key waits.
void delivery_run::evict_calls(lease_clock::time_point now) {
  if (!frame_->options.duplicates) return;
  for (const auto number : window_.waited_for()) {
    if (eviction_of(number) > now) return;
    const auto which = std::ranges::find(calls_, number, [](const call_ptr& each) { return each->number(); });
    cancel((*which)->run, asio::cancellation_type::terminal);
    frame_->board.change([](queue_consumer_status& status) { ++status.evicted; });
    give_up(which, "it took longer than message_duplicates::safety while another message of its key waited");
  }
}

lease_clock::time_point delivery_run::eviction_of(std::uint64_t number) const {
  return end_of(frame_->options.duplicates->safety, window_.at(number).begun);
}

/// When the next call is to be given up; `never` if none can be.
lease_clock::time_point delivery_run::next_eviction() const {
  if (!frame_->options.duplicates) return never;
  const auto waited_for = window_.waited_for();
  return waited_for.empty() ? never : eviction_of(waited_for.front());
}

/// The call has failed, and is not waited for any more, because it may never end.
void delivery_run::give_up(calls::iterator which, const char* reason) {
  auto& call = **which;
  given_up_.splice(given_up_.end(), calls_, which);
  call.is_last = true;
  const auto steps = call.steps.load(std::memory_order_acquire);
  take_outcomes(call, steps / 2);
  const bool is_at_work = steps == 0 || steps % 2 != 0;  // the first counts from its begin on the strand
  if (is_at_work) take_failure(call, steps / 2, reason);
}

/// When the oldest call that runs was begun.
lease_clock::time_point delivery_run::working_since() const {
  auto since = window_.working_since();
  for (const auto& each : given_up_) since = std::min(since, each->begun);
  return since;
}

/// A call that was cut, was not made, or reports by its exception that the term is over, has not failed.
void delivery_run::end_call(process_call& which) {
  const auto& failure = which.run->failure;
  const bool is_over = term_->reason() || term_->seat()->bound()->ended;
  const bool has_failed = failure && !(is_over && tells_of_the_end(failure));
  const auto ended = which.ended();
  has_lapsed_ = has_lapsed_ || (which.has_lapsed && !is_cut_);
  auto& first = window_.at(which.number());
  if (!is_cut_ && (has_failed || ended > which.taken)) {
    const bool is_void = first.is_void;
    take_outcomes(which, ended);
    if (has_failed && (ended == which.taken || !is_void)) take_failure(which, ended, text_of(failure));
  } else if (first.is_removed) {
    frame_->board.change([](queue_consumer_status& status) { ++status.lost; });
    window_.remove(first);
  } else {
    put_back(first);
  }
}

/// Those that have not been taken yet. If a message in front of the first of them was refused meanwhile, none counts:
/// the first waits again, as the others do.
void delivery_run::take_outcomes(process_call& of, std::size_t ended) {
  const bool is_void = window_.at(of.number()).is_void;
  for (auto i = of.taken; i < ended && (i == of.taken || !is_void); ++i) {
    auto* whose = begun_message(of, i);
    if (!whose) return;
    take_outcome(*whose, std::move(*of.messages[i].outcome));
  }
}

void delivery_run::take_failure(process_call& of, std::size_t place, std::string reason) {
  if (auto* whose = begun_message(of, place)) take_outcome(*whose, message_outcome::again(std::move(reason)));
}

/// The message at this place of the call. One that was taken along is begun now, if it still waits.
message_in_hand* delivery_run::begun_message(const process_call& of, std::size_t place) {
  const auto number = of.messages[place].number;
  if (place == of.taken) return &window_.at(number);
  auto* whose = window_.find_waiting(number);
  if (!whose || whose->at != message_in_hand::stage::waiting) return nullptr;
  window_.begin(*whose, of.messages[place].begun);
  return whose;
}

/// It is tried again at once, and no attempt counts.
void delivery_run::put_back(message_in_hand& which) {
  which.is_void = false;
  probation_.put_back(which.what->name);
  window_.restart(which);
}

void delivery_run::take_outcome(message_in_hand& which, message_outcome outcome) {
  const auto& options = frame_->options;
  if (options.delivery != delivery_guarantee::effectively_once && !outcome.effects().empty()) {
    outcome = message_outcome::again("effects were returned, although delivery is not effectively_once");
  }
  const auto what = outcome.what();
  if (what == message_outcome::kind::hold_off) {
    hold_off(outcome);
    return put_back(which);
  }
  if (which.is_removed) {  // at most once: there is nothing left to settle
    const bool is_done = what == message_outcome::kind::done;
    if (is_done) breaker_.note_success(get_scheduler()->now());
    if (what == message_outcome::kind::again) {
      log_.attempt_failed(*which.what, outcome.reason());
      breaker_.note_failure(which, outcome.reason(), false, get_scheduler()->now());
    }
    frame_->board.change([&](queue_consumer_status& status) { ++(is_done ? status.done : status.lost); });
    return window_.remove(which);
  }
  if (what == message_outcome::kind::again) {
    frame_->board.change([](queue_consumer_status& status) { ++status.again; });
    if (!which.is_void) log_.attempt_failed(*which.what, outcome.reason());
    if (!which.is_void && breaker_.spares(which, outcome, false, get_scheduler()->now()))
      return probation_.put_back(which.what->name);
  }
  if (!window_.finish(which, std::move(outcome))) probation_.put_back(which.what->name);
}

void delivery_run::cut() {
  if (std::exchange(is_cut_, true)) return;
  const bool is_stalled = term_->reason() == term_end::stalled;
  const auto oldest = working_since();
  for (const auto& each : given_up_) cancel(each->run, asio::cancellation_type::terminal);
  for (auto next = calls_.begin(); next != calls_.end();) {
    const auto each = next++;
    (*each)->is_last = true;
    cancel((*each)->run, asio::cancellation_type::terminal);
    const auto& whose = window_.at((*each)->number());
    if (!is_stalled || whose.begun != oldest || whose.is_void || (*each)->run->done) continue;
    give_up(each, "it took longer than career_traits::stall_limit");
  }
  changed_.notify();
}

}  // namespace zkrecipes::detail
