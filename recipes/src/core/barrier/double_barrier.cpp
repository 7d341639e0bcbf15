#include <stdexcept>
#include <utility>

#include <zkrecipes/double_barrier.hpp>

#include "barrier/attendant.hpp"
#include "session/deadline.hpp"
#include "session/make.hpp"

namespace zkrecipes {

using namespace detail;

attendance::attendance() noexcept = default;
attendance::attendance(std::shared_ptr<attendant> attendant) noexcept : attendant_(std::move(attendant)) {}
attendance::attendance(attendance&&) noexcept = default;

attendance& attendance::operator=(attendance&& other) noexcept {
  attendance taken(std::move(other));
  std::swap(attendant_, taken.attendant_);  // the attendance that we had leaves here
  return *this;
}

attendance::~attendance() {
  if (attendant_ && !attendant_->where()->lost()) attendant_->where()->leave_later();
}

attendance::executor_type attendance::get_executor() const noexcept {
  return attendant_ ? attendant_->get_scheduler()->base : executor_type();
}

std::int64_t attendance::round() const noexcept { return attendant_ ? attendant_->round() : 0; }
error_code attendance::error() const noexcept {
  return attendant_ ? attendant_->where()->hold().error() : make_error_code(errc::closed);
}

const std::string& attendance::path() const noexcept { return attendant_ ? attendant_->where()->path() : no_path(); }

transaction attendance::fenced(transaction operations) const {
  return transaction().check(path()).append(std::move(operations));
}

void attendance::start_lost(handler_for<void(error_code)> h, attendant_ptr which) {
  launch_endless(std::move(h), std::move(which), &attendant::wait_lost);
}

void attendance::start_leave(handler_for<void(error_code)> h, attendant_ptr which, lease_clock::duration budget) {
  launch_within(budget, std::move(h), std::move(which), &attendant::leave);
}

using namespace detail;

double_barrier::double_barrier(session over, std::string path, int size, double_barrier_options options)
    : session_(std::move(over)), options_(std::move(options)) {
  require_path("double barrier path", path);
  require_id("double_barrier_options::id", options_.id);
  if (size < 1 || size > max_members) {
    throw std::invalid_argument("double barrier size " + std::to_string(size) + ": it must be 1 to " +
                                std::to_string(max_members));
  }
  state_ = std::make_shared<double_barrier_state>(require_session(session_), std::move(path), size, options_.id);
}

const std::string& double_barrier::path() const noexcept { return state_ ? state_->path : no_path(); }
int double_barrier::size() const noexcept { return state_ ? state_->size : 0; }

namespace {

awaitable<outcome<attendance>> enter(double_barrier_ptr at, lease_clock::time_point deadline, diagnostic why) {
  auto entered = co_await attendant::enter(std::move(at), deadline, std::move(why));
  auto& [error, where] = entered;
  if (error) where = nullptr;
  co_return outcome<attendance>(error, attendance(std::move(where)));
}

}  // namespace

void double_barrier::start_enter(handler_for<void(error_code, attendance)> h, state_ptr at,
                                 lease_clock::duration budget, diagnostic why) {
  const auto on = at->session->get_scheduler();
  launch(*on, std::move(h), enter(std::move(at), on->deadline_of(budget), std::move(why)));
}

}  // namespace zkrecipes
