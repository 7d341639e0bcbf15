// The calls of `process` in a run.
#include <algorithm>
#include <utility>

#include "consumer/end_of_term.hpp"
#include "delivery/delivery_run.hpp"
#include "delivery/retry_pause.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

void delivery_run::begin(message_in_hand& which) {
  window_.begin(which, get_scheduler()->now());
  charge(which);
  ++begun_;
  auto begun = std::make_shared<process_call>();
  begun->number = which.number;
  begun->what = which.what;
  begun->begun = which.begun;
  begun->run = start_task(*get_scheduler(), executor_, call(shared_from_this(), begun), changed_, shared_from_this());
  calls_.push_back(std::move(begun));
}

/// Runs on the executor of the career. The lease is checked right before the call: the executor may have been busy, or
/// the process asleep.
awaitable<void> delivery_run::call(std::shared_ptr<delivery_run> self, call_ptr which) {
  if (self->term_->ending() || self->get_scheduler()->now() >= self->term_->seat()->valid_until()) co_return;
  which->outcome = co_await self->frame_->process(zkrecipes::term(self->term_), *which->what);
}

void delivery_run::end_calls() {
  for (auto each = calls_.begin(); each != calls_.end();) {
    if ((*each)->run->done) {
      const auto ended = *each;
      each = calls_.erase(each);
      end_call(*ended);
    } else {
      ++each;
    }
  }
  std::erase_if(given_up_, [](const call_ptr& each) { return each->run->done; });
}

/// Gives up calls that take too long while another message of their key waits.
void delivery_run::evict_calls(lease_clock::time_point now) {
  if (!frame_->options.duplicates) return;
  for (const auto number : window_.waited_for()) {
    if (eviction_of(number) > now) return;
    const auto which = std::ranges::find(calls_, number, [](const call_ptr& each) { return each->number; });
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
  auto& whose = message_of(**which);
  given_up_.splice(given_up_.end(), calls_, which);
  take_outcome(whose, message_outcome::again(reason));
}

/// When the oldest call that runs was begun.
lease_clock::time_point delivery_run::working_since() const {
  auto since = window_.working_since();
  for (const auto& each : given_up_) since = std::min(since, each->begun);
  return since;
}

message_in_hand& delivery_run::message_of(const process_call& which) { return window_.at(which.number); }

/// A call that was cut, was not made, or reports by its exception that the term is over, has not failed.
void delivery_run::end_call(process_call& which) {
  auto& whose = message_of(which);
  const auto& failure = which.run->failure;
  const bool is_over = term_->reason() || term_->seat()->bound()->ended;
  const bool counts = !is_cut_;
  if (counts && failure && !(is_over && tells_of_the_end(failure))) {
    take_outcome(whose, message_outcome::again(text_of(failure)));
  } else if (counts && !failure && which.outcome) {
    take_outcome(whose, std::move(*which.outcome));
  } else if (whose.is_removed) {
    frame_->board.change([](queue_consumer_status& status) { ++status.lost; });
    window_.remove(whose);
  } else {
    has_lapsed_ = has_lapsed_ || (!failure && !is_cut_);
    put_back(whose);
  }
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
    frame_->board.change([&](queue_consumer_status& status) { ++(is_done ? status.done : status.lost); });
    return window_.remove(which);
  }
  if (what == message_outcome::kind::again) {
    frame_->board.change([](queue_consumer_status& status) { ++status.again; });
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
    cancel((*each)->run, asio::cancellation_type::terminal);
    const auto& whose = message_of(**each);
    if (!is_stalled || whose.begun != oldest || whose.is_void || (*each)->run->done) continue;
    give_up(each, "it took longer than career_traits::stall_limit");
  }
  changed_.notify();
}

}  // namespace zkrecipes::detail
