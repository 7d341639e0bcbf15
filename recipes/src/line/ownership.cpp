// The public face of a place that is first in line.
#include <utility>

#include <zkrecipes/ownership.hpp>

#include "line/place.hpp"

namespace zkrecipes {

using namespace detail;

ownership::ownership() noexcept = default;
ownership::ownership(std::shared_ptr<place> place) noexcept : place_(std::move(place)) {}
ownership::ownership(ownership&&) noexcept = default;

ownership& ownership::operator=(ownership&& other) noexcept {
  ownership taken(std::move(other));
  std::swap(place_, taken.place_);  // what we had is released here
  return *this;
}

ownership::~ownership() {
  if (place_ && !place_->lost()) place_->leave_later();
}

ownership::executor_type ownership::get_executor() const noexcept {
  return place_ ? place_->session()->get_scheduler()->base : executor_type();
}

std::int64_t ownership::token() const noexcept { return place_ ? place_->token() : 0; }

const std::string& ownership::path() const noexcept { return place_ ? place_->path() : no_path(); }

error_code ownership::error() const noexcept { return place_ ? place_->lost() : make_error_code(errc::closed); }

lease_clock::time_point ownership::valid_until() const {
  return place_ ? place_->valid_until() : lease_clock::time_point{};
}

transaction ownership::fenced(transaction operations) const {
  return transaction().check(path()).append(std::move(operations));
}

namespace {

void start(handler_for<void(error_code)> h, place_ptr which, awaitable<outcome<>> (place::*method)()) {
  launch(*which->session()->get_scheduler(), std::move(h), owning(which, method));
}

}  // namespace

void ownership::start_lost(handler_for<void(error_code)> h, place_ptr which) {
  start(std::move(h), std::move(which), &place::wait_lost);
}

void ownership::start_revoked(handler_for<void(error_code)> h, place_ptr which) {
  start(std::move(h), std::move(which), &place::wait_revoked);
}

void ownership::start_release(handler_for<void(error_code)> h, place_ptr which) {
  start(std::move(h), std::move(which), &place::leave);
}

}  // namespace zkrecipes
