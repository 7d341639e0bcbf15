// The limit of the calls in a run. The term keeps its level, because a term can have several runs, and passes it on.
#include <algorithm>
#include <chrono>
#include <utility>

#include "delivery/delivery_run.hpp"
#include "delivery/retry_pause.hpp"

namespace zkrecipes::detail {

namespace {

/// One that says "at once" and is not ready would be asked without a pause, which takes a whole processor.
constexpr std::chrono::milliseconds shortest_hold_off{10};

}  // namespace

/// Behind a predecessor that has not told its level it is not known how much credit was used.
void delivery_run::take_up_limit() {
  const auto& limit = frame_->options.limit;
  if (!limit) return term_->notes().set_limit_arrival(std::nullopt);  // calls that do not count may follow
  const auto now = get_scheduler()->now();
  auto arrival = term_->notes().limit_arrival();
  if (!arrival && term_->notes().has_all_credit()) arrival = now;
  limiter_.emplace(*limit, arrival, now);
  term_->notes().set_limit_arrival(limiter_->arrival());
}

bool delivery_run::is_let_through(message_in_hand& next) {
  if (!limiter_) return true;
  const auto now = get_scheduler()->now();
  const auto due = limiter_->due(next, now);
  if (due <= now) return true;
  limited_until_ = due;
  next.has_waited = true;
  return false;
}

void delivery_run::charge(message_in_hand& which) {
  if (!limiter_) return;
  limiter_->charge(which, which.begun);
  term_->notes().set_limit_arrival(limiter_->arrival());
  if (!std::exchange(which.has_waited, false)) return;
  frame_->board.change([](queue_consumer_status& status) { ++status.waited; });
}

/// The message that asked for it is not about to be begun any more. A pause of 0 takes no credit away.
void delivery_run::hold_off(const message_outcome& asked) {
  const auto pause = bounded(asked.after().value_or(std::chrono::milliseconds(0)));
  const auto now = get_scheduler()->now();
  const auto until = now + pause;
  held_off_until_ = std::max({held_off_until_, until, now + shortest_hold_off});
  probation_.retract();
  if (!limiter_ || pause.count() == 0) return;
  limiter_->hold_off(until);
  term_->notes().set_limit_arrival(limiter_->arrival());
}

}  // namespace zkrecipes::detail
