#include <stdexcept>
#include <utility>

#include <zkrecipes/flow/once_per.hpp>

#include "once/once_state.hpp"
#include "session/make.hpp"
#include "session/paths.hpp"

namespace zkrecipes {

using namespace detail;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds longest_period = 24h * 366;

void require_period(bool is_right, const char* field, std::chrono::milliseconds value, const char* wanted) {
  if (is_right) return;
  throw std::invalid_argument(std::string("once_per_options::") + field + " is " + std::to_string(value.count()) +
                              " ms; it must be from " + wanted);
}

}  // namespace

once_per::once_per(session over, std::string path, once_per_options options) : session_(std::move(over)) {
  require_path("once_per path", path);
  if (path == "/") reject("once_per path", path, "it is the root");
  require_id("once_per_options::id", options.id);
  const std::chrono::milliseconds per = options.per;
  const std::chrono::milliseconds keep = options.keep;
  require_period(per >= 1s && per <= longest_period, "per", per, "1 s to 366 days");
  require_period(keep >= 0s && keep <= longest_period, "keep", keep, "0 to 366 days");
  state_ = std::make_shared<once_state>(require_session(session_), std::move(path), std::move(options));
}

const std::string& once_per::path() const noexcept { return state_ ? state_->path() : no_path(); }

const once_per_options& once_per::options() const noexcept {
  static const once_per_options defaults;
  return state_ ? state_->options() : defaults;
}

void once_per::start_claim(handler_for<void(error_code, once_intent)> h, state_ptr state, std::string key,
                           std::string note) {
  launch(std::move(h), std::move(state), &once_state::claim, std::move(key), std::move(note));
}

void once_per::start_withdraw(handler_for<void(error_code)> h, state_ptr state, once_intent what) {
  launch(std::move(h), std::move(state), &once_state::withdraw, std::move(what));
}

void once_per::start_clean(handler_for<void(error_code, std::size_t)> h, state_ptr state) {
  launch(std::move(h), std::move(state), &once_state::clean);
}

}  // namespace zkrecipes
