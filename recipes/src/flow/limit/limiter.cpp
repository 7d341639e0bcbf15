#include <utility>

#include <zkrecipes/flow/limiter.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "limit/limiter_state.hpp"
#include "limit/make_limiter.hpp"

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
