#include <utility>

#include <zkrecipes/flow/shared_balance.hpp>

#include "balance/shared_pace.hpp"
#include "session/paths.hpp"

namespace zkrecipes {

shared_balance_track::shared_balance_track() noexcept = default;
shared_balance_track::shared_balance_track(state_ptr state) noexcept : state_(std::move(state)) {}
shared_balance_track::~shared_balance_track() { leave(); }
shared_balance_track::shared_balance_track(shared_balance_track&&) noexcept = default;

shared_balance_track& shared_balance_track::operator=(shared_balance_track&& other) noexcept {
  auto before = std::exchange(state_, std::exchange(other.state_, nullptr));
  if (before && before != state_) before->pace->leave(*before);
  return *this;
}

bool shared_balance_track::try_move() { return state_ && state_->pace->try_move(*state_); }

void shared_balance_track::start_move(detail::handler_for<void(error_code)> handler, state_ptr whose) {
  whose->pace->move(whose, std::move(handler));
}

void shared_balance_track::leave() noexcept {
  if (state_) state_->pace->leave(*state_);
}

std::uint64_t shared_balance_track::steps() const noexcept { return state_ ? state_->pace->steps(*state_) : 0; }

const std::string& shared_balance_track::name() const noexcept { return state_ ? state_->name : detail::no_path(); }

shared_balance_track::executor_type shared_balance_track::get_executor() const noexcept {
  return state_ ? state_->pace->get_scheduler()->base : executor_type();
}

}  // namespace zkrecipes
