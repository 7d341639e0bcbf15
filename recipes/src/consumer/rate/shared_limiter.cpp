#include <cmath>
#include <stdexcept>
#include <utility>

#include <zkrecipes/consumer/shared_limiter.hpp>

#include "rate/shared_limiter_state.hpp"
#include "session/make.hpp"
#include "session/paths.hpp"
#include "session/stoppable_run.hpp"

namespace zkrecipes {

using namespace detail;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t largest_rate = 1'000'000'000;

void require_limit(bool is_good, const char* option, const char* what) {
  if (is_good) return;
  throw std::invalid_argument(std::string("shared_limiter_options::") + option + ": it must be " + what);
}

/// The options with the burst that counts.
shared_limiter_options checked_limit(shared_limiter_options options) {
  const lease_clock::duration per = options.per;
  require_id("shared_limiter_options::id", options.id);
  require_limit(options.rate >= 1 && options.rate <= largest_rate, "rate", "1 to 1 000 000 000");
  require_limit(per >= 1us && per <= 24h, "per", "1 us to 24 h");
  require_limit(options.slices >= 1 && options.slices <= most_shards, "slices", "1 to 10 000");
  if (options.burst == 0) options.burst = options.slices;
  const bool is_burst = options.burst >= options.slices && options.burst <= largest_rate;
  require_limit(is_burst, "burst", "at least as many as `slices`, so that each lets a call through, and at most 10^9");
  const auto back_after = std::chrono::duration<double>(per).count() * static_cast<double>(options.burst) /
                          static_cast<double>(options.rate);
  require_limit(back_after <= 86'400, "burst", "back, at this rate, within 24 h: take fewer slices or a smaller burst");
  const bool is_number = std::isfinite(options.capacity);
  require_limit(is_number && options.capacity >= 0.001 && options.capacity <= 1000, "capacity", "0.001 to 1 000");
  require_limit(options.grace >= 0ms && options.grace <= 24h, "grace", "0 to 24 h");
  return options;
}

}  // namespace

shared_limiter::shared_limiter(session over, std::string path, shared_limiter_options options)
    : session_(std::move(over)) {
  require_path("shared limiter path", path);
  if (path == "/") reject("shared limiter path", path, "it is the root");
  auto checked = checked_limit(std::move(options));
  state_ = std::make_shared<shared_limiter_state>(require_session(session_), std::move(path), std::move(checked));
}

shared_limiter::shared_limiter() noexcept = default;
shared_limiter::shared_limiter(shared_limiter&&) noexcept = default;

shared_limiter& shared_limiter::operator=(shared_limiter&& other) noexcept {
  shared_limiter taken(std::move(other));
  std::swap(session_, taken.session_);
  std::swap(state_, taken.state_);  // what we had is stopped here
  return *this;
}

shared_limiter::~shared_limiter() {
  if (state_) state_->member()->forbid_runs();
  stop();
}

void shared_limiter::stop() {
  if (!state_) return;
  asio::post(state_->get_scheduler()->strand, [self = state_] { self->stop(false); });
}

void shared_limiter::drain() {
  if (!state_) return;
  asio::post(state_->get_scheduler()->strand, [self = state_] { self->member()->drain(); });
}

bool shared_limiter::try_acquire(std::uint64_t cost) { return state_ && state_->share().try_acquire(cost); }

void shared_limiter::hold_off(time_span<lease_clock::duration> for_time) {
  if (state_) state_->share().hold_off(for_time);
}

shared_limiter_status shared_limiter::status() const { return state_ ? state_->status() : shared_limiter_status(); }

limiter_statistics shared_limiter::statistics() const {
  return state_ ? state_->share().statistics() : limiter_statistics();
}

const std::string& shared_limiter::path() const noexcept { return state_ ? state_->path() : no_path(); }

const shared_limiter_options& shared_limiter::options() const noexcept {
  static const shared_limiter_options defaults;
  return state_ ? state_->options() : defaults;
}

void shared_limiter::start_run(handler_for<void(error_code)> h, state_ptr state) {
  if (auto refused = state->begin_run()) return launch(*state->get_scheduler(), std::move(h), refuse<>(refused));
  launch_stoppable(std::move(h), std::move(state));
}

void shared_limiter::start_acquire(acquire_handler h, state_ptr state, std::uint64_t cost) {
  state->share().acquire(std::move(h), cost, lease_clock::duration::max());
}

void shared_limiter::start_acquire_for(acquire_handler h, state_ptr state, std::uint64_t cost, time_budget budget) {
  state->share().acquire(std::move(h), cost, budget);
}

}  // namespace zkrecipes
