#include <zkrecipes/double_barrier.hpp>

#include <stdexcept>
#include <utility>

#include "barrier/seat.hpp"
#include "session/deadline.hpp"

namespace zkrecipes {

using namespace detail;

attendance::attendance() noexcept = default;
attendance::attendance(std::shared_ptr<seat> seat) noexcept : seat_(std::move(seat)) {}
attendance::attendance(attendance&&) noexcept = default;

attendance& attendance::operator=(attendance&& other) noexcept {
  attendance taken(std::move(other));
  std::swap(seat_, taken.seat_);  // what we had is left here
  return *this;
}

attendance::~attendance() {
  if (seat_ && !seat_->where()->lost()) seat_->where()->leave_later();
}

std::int64_t attendance::round() const noexcept { return seat_ ? seat_->round() : 0; }
int attendance::size() const noexcept { return seat_ ? seat_->size() : 0; }
error_code attendance::error() const noexcept { return seat_ ? seat_->where()->lost() : make_error_code(errc::closed); }

const std::string& attendance::path() const noexcept {
  static const std::string none;
  return seat_ ? seat_->where()->path() : none;
}

transaction attendance::fenced(transaction operations) const {
  return transaction().check(path()).append(std::move(operations));
}

void attendance::start_lost(handler_for<void(error_code)> h, seat_ptr which) {
  if (!which) throw std::logic_error("zkrecipes::attendance: nothing was ever attended here");
  launch(*which->where()->session()->get_scheduler(), std::move(h), owning(which->where(), &place::wait_lost));
}

void attendance::start_leave(handler_for<void(error_code)> h, seat_ptr which, lease_clock::duration budget) {
  if (!which) throw std::logic_error("zkrecipes::attendance: nothing was ever attended here");
  const auto& on = which->where()->session()->get_scheduler();
  auto leaving = owning(which, &seat::leave);
  launch(*on, std::move(h), with_deadline(on, deadline_of(*on, budget), std::move(leaving)));
}

double_barrier::double_barrier(session over, std::string path, int size, double_barrier_options options)
    : session_(std::move(over)), path_(std::move(path)), size_(size), options_(std::move(options)) {
  require_path("double barrier path", path_);
  require_id("double_barrier_options::id", options_.id);
  if (size_ < 1 || size_ > most_members) {
    throw std::invalid_argument("double barrier size " + std::to_string(size_) + ": it must be 1 to " +
                                std::to_string(most_members));
  }
}

namespace {

awaitable<outcome<attendance>> enter(core_ptr session, std::string path, int size, std::string id,
                                     lease_clock::duration budget) {
  const auto deadline = deadline_of(*session->get_scheduler(), budget);
  auto entered = co_await seat::enter(std::move(session), std::move(path), size, std::move(id), deadline);
  auto& [error, where] = entered;
  if (error && error != errc::size_mismatch) where = nullptr;
  co_return outcome<attendance>(error, attendance(std::move(where)));
}

}  // namespace

void double_barrier::start_enter(handler_for<void(error_code, attendance)> h, core_ptr core, std::string path, int size,
                                 double_barrier_options options, lease_clock::duration budget) {
  launch(*core->get_scheduler(), std::move(h),
         enter(core, std::move(path), size, std::move(options.id), budget));
}

}  // namespace zkrecipes
