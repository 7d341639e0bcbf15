#include <stdexcept>
#include <utility>

#include <zkrecipes/flow/shared_balance.hpp>

#include "balance/largest_range.hpp"
#include "balance/shared_balance_state.hpp"
#include "session/make.hpp"
#include "session/paths.hpp"
#include "session/stoppable_run.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

shared_balance_options checked_balance(shared_balance_options options) {
  require_id("shared_balance_options::id", options.id);
  if (is_range(options.range)) return options;
  throw std::invalid_argument("shared_balance_options::range is " + std::to_string(options.range) +
                              "; it must be from 1 to " + std::to_string(largest_range));
}

}  // namespace

shared_balance::shared_balance(session over, std::string path, shared_balance_options options)
    : session_(std::move(over)) {
  require_path("shared balance path", path);
  if (path == "/") reject("shared balance path", path, "it is the root");
  auto checked = checked_balance(std::move(options));
  state_ = std::make_shared<shared_balance_state>(require_session(session_), std::move(path), std::move(checked));
}

shared_balance::shared_balance() noexcept = default;
shared_balance::shared_balance(shared_balance&&) noexcept = default;

shared_balance& shared_balance::operator=(shared_balance&& other) noexcept {
  shared_balance taken(std::move(other));
  std::swap(session_, taken.session_);
  std::swap(state_, taken.state_);  // what we had is stopped here
  return *this;
}

shared_balance::~shared_balance() {
  if (state_) state_->forbid_runs();
  stop();
}

void shared_balance::stop() {
  if (!state_) return;
  asio::post(state_->get_scheduler()->strand, [self = state_] { self->stop(false); });
}

shared_balance_track shared_balance::track(std::string name) const {
  if (!state_) return shared_balance_track();
  require_id("balance track", name);
  return shared_balance_track(state_->pace()->add(std::move(name)));
}

shared_balance_status shared_balance::status() const { return state_ ? state_->status() : shared_balance_status(); }

const std::string& shared_balance::path() const noexcept { return state_ ? state_->path() : no_path(); }

const shared_balance_options& shared_balance::options() const noexcept {
  static const shared_balance_options defaults;
  return state_ ? state_->options() : defaults;
}

void shared_balance::start_run(handler_for<void(error_code)> h, state_ptr state) {
  if (auto refused = state->begin_run()) return launch(*state->get_scheduler(), std::move(h), refuse<>(refused));
  launch_stoppable(std::move(h), std::move(state));
}

}  // namespace zkrecipes
