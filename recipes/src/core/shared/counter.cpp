#include <stdexcept>
#include <utility>

#include <zkrecipes/counter.hpp>

#include "session/make.hpp"
#include "shared/counter_state.hpp"

namespace zkrecipes {

using namespace detail;

counter::counter(session over, std::string path, counter_options options) : session_(std::move(over)) {
  require_path("counter path", path);
  if (options.max_tries < 1 || options.max_tries > 1'000'000) {
    throw std::invalid_argument("counter_options::max_tries is " + std::to_string(options.max_tries) +
                                "; it must be from 1 to 1000000");
  }
  state_ = std::make_shared<counter_state>(require_session(session_), std::move(path), options);
}

const std::string& counter::path() const noexcept { return state_ ? state_->path() : no_path(); }

const counter_options& counter::options() const noexcept {
  static const counter_options defaults;
  return state_ ? state_->options() : defaults;
}

void counter::start_get(handler_for<void(error_code, counter_reading)> h, state_ptr state) {
  launch(std::move(h), std::move(state), &counter_state::get);
}

void counter::start_add(handler_for<void(error_code, std::int64_t)> h, state_ptr state, std::int64_t delta) {
  launch(std::move(h), std::move(state), &counter_state::add, delta);
}

void counter::start_compare_and_set(handler_for<void(error_code, counter_reading)> h, state_ptr state,
                                    counter_reading seen, std::int64_t value) {
  launch(std::move(h), std::move(state), &counter_state::compare_and_set, seen, value);
}

void counter::start_change(handler_for<void(error_code, counter_reading)> h, state_ptr state, counter_reading seen) {
  launch(std::move(h), std::move(state), &counter_state::change, seen);
}

}  // namespace zkrecipes
