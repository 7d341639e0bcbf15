#include <stdexcept>
#include <utility>

#include <zkrecipes/flow/balance.hpp>

#include "balance/core.hpp"
#include "balance/largest_range.hpp"
#include "balance/track_state.hpp"
#include "session/paths.hpp"

namespace zkrecipes {

balance_track::balance_track() noexcept = default;
balance_track::balance_track(state_ptr state) noexcept : state_(std::move(state)) {}
balance_track::~balance_track() { leave(); }
balance_track::balance_track(balance_track&&) noexcept = default;

balance_track& balance_track::operator=(balance_track&& other) noexcept {
  auto before = std::exchange(state_, std::exchange(other.state_, nullptr));
  if (before && before != state_) before->core().leave(*before);
  return *this;
}

bool balance_track::try_move() { return state_ && state_->try_move(); }

void balance_track::start_move(detail::handler_for<void(error_code)> handler, state_ptr whose) {
  whose->move(std::move(handler));
}

void balance_track::leave() noexcept {
  if (state_) state_->core().leave(*state_);
}

std::uint64_t balance_track::steps() const noexcept { return state_ ? static_cast<std::uint64_t>(state_->steps()) : 0; }

const std::string& balance_track::name() const noexcept { return state_ ? state_->name() : detail::no_path(); }

balance_track::executor_type balance_track::get_executor() const noexcept {
  return state_ ? state_->core().executor() : executor_type();
}

using namespace detail;

namespace {

void check(const balance_options& options) {
  if (is_range(options.range)) return;
  throw std::invalid_argument("balance_options::range is " + std::to_string(options.range) + "; it must be from 1 to " +
                              std::to_string(largest_range));
}

}  // namespace

balance::balance(executor_type executor, balance_options options) {
  if (!executor) throw std::invalid_argument("balance executor: it is empty");
  check(options);
  core_ = std::make_shared<balance_core>(std::move(executor), options);
}

balance_track balance::track(std::string name) const {
  if (!core_) return balance_track();
  require_id("balance track", name);
  return balance_track(core_->join(std::move(name)));
}

balance_status balance::status() const { return core_ ? core_->status() : balance_status(); }

const balance_options& balance::options() const noexcept {
  static const balance_options none;
  return core_ ? core_->options() : none;
}

balance::executor_type balance::get_executor() const noexcept { return core_ ? core_->executor() : executor_type(); }

}  // namespace zkrecipes
