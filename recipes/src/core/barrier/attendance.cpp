#include <utility>

#include <zkrecipes/double_barrier.hpp>

#include "barrier/attendant.hpp"
#include "session/deadline.hpp"

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

}  // namespace zkrecipes
