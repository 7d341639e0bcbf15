#include <stdexcept>
#include <utility>

#include <zkrecipes/semaphore.hpp>

#include "semaphore/permits.hpp"
#include "session/deadline.hpp"
#include "session/make.hpp"

namespace zkrecipes {

using namespace detail;

semaphore::semaphore(session over, std::string path, std::int32_t size, line_options options)
    : session_(std::move(over)) {
  require_path("semaphore path", path);
  require_id("line_options::id", options.id);
  permits_ = std::make_shared<permits>(require_session(session_), std::move(path), checked(size), std::move(options));
}

std::int32_t semaphore::checked(std::int32_t permits) {
  if (permits >= 1 && permits <= max_permits) return permits;
  throw std::invalid_argument("semaphore: " + std::to_string(permits) + " permits: it must be 1 to " +
                              std::to_string(max_permits));
}

const std::string& semaphore::path() const noexcept { return permits_ ? permits_->path() : no_path(); }

const line_options& semaphore::options() const noexcept {
  static const line_options defaults;
  return permits_ ? permits_->options() : defaults;
}

void semaphore::start_acquire(owner_handler h, permits_ptr from, std::int32_t weight, lease_clock::duration budget,
                              diagnostic why) {
  const auto on = from->session()->get_scheduler();
  auto acquiring = owning(std::move(from), &permits::acquire, weight, std::move(why));
  launch(*on, std::move(h), with_deadline(on, on->deadline_of(budget), std::move(acquiring)));
}

void semaphore::start_try_acquire(owner_handler h, permits_ptr from, std::int32_t weight, diagnostic why) {
  const auto on = from->session()->get_scheduler();
  launch(*on, std::move(h), owning(std::move(from), &permits::try_acquire, weight, std::move(why)));
}

void semaphore::start_resize(handler_for<void(error_code)> h, permits_ptr from, std::int32_t size, diagnostic why) {
  const auto on = from->session()->get_scheduler();
  launch(*on, std::move(h), owning(std::move(from), &permits::resize, size, std::move(why)));
}

void semaphore::start_state(handler_for<void(error_code, semaphore_state)> h, permits_ptr from, diagnostic why) {
  const auto on = from->session()->get_scheduler();
  launch(*on, std::move(h), owning(std::move(from), &permits::state, std::move(why)));
}

void semaphore::start_members(handler_for<void(error_code, std::vector<line_member>)> h, permits_ptr from,
                              diagnostic why) {
  const auto on = from->session()->get_scheduler();
  launch(*on, std::move(h), owning(std::move(from), &permits::members, std::move(why)));
}

}  // namespace zkrecipes
