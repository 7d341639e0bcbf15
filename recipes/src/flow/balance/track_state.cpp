#include "balance/track_state.hpp"

#include <algorithm>
#include <utility>

#include "balance/core.hpp"

namespace zkrecipes::detail {

track_state::track_state(std::shared_ptr<balance_core> core, std::string name, std::int64_t steps)
    : steps_(steps), limit_(core->limit()), unchecked_(nothing), core_(std::move(core)), name_(std::move(name)) {
  unchecked_.store(end_of_unchecked(steps), std::memory_order_relaxed);
}

void track_state::move(pending_move::handler whose) {
  auto made = std::make_shared<pending_move>(core_->executor(), std::move(whose));
  if (try_move()) return made->complete(error_code());
  listen(made);
  core_->wait(*this, std::move(made));
}

/// To be called before the move can complete, because the handler may destroy what the slot belongs to. The slot may
/// outlive the move.
void track_state::listen(const std::shared_ptr<pending_move>& waiting) {
  auto slot = waiting->slot();
  if (!slot.is_connected()) return;
  slot.assign([self = weak_from_this(), which = std::weak_ptr(waiting)](asio::cancellation_type type) {
    const auto track = self.lock();
    const auto move = which.lock();
    if (track && move && type != asio::cancellation_type::none) track->core_->cancel(*track, move);
  });
}

bool track_state::move_checked() {
  auto known = unchecked_.load(std::memory_order_relaxed);
  if (known == nothing) return false;
  if (steps_.load(std::memory_order_relaxed) >= limit_) {
    const auto limit = core_->limit_for(*this);
    if (!limit) return false;
    limit_ = *limit;
  }
  const auto steps = steps_.load(std::memory_order_relaxed);  // again: a move that waited may have been granted
  if (steps >= limit_) return false;
  make_step(steps + 1);
  // The only other writer is `leave`, which any thread may call meanwhile. It must have the last word.
  unchecked_.compare_exchange_strong(known, end_of_unchecked(steps + 1), std::memory_order_relaxed);
  return true;
}

void track_state::make_step(std::int64_t number) {
  if (!core_->ends_granule(number)) return steps_.store(number, std::memory_order_release);
  steps_.store(number, std::memory_order_seq_cst);
  core_->passed_granule();
}

/// The last step of a granule is made with a look at the others, so it is not among those that need none.
std::int64_t track_state::end_of_unchecked(std::int64_t steps) const noexcept {
  return std::min(limit_, core_->end_of_granule(steps) - 1);
}

}  // namespace zkrecipes::detail
