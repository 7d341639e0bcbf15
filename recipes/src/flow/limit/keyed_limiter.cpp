#include <utility>

#include <zkrecipes/flow/keyed_limiter.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "limit/keyed_limiter_state.hpp"
#include "limit/make_limiter.hpp"

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
