#include <algorithm>
#include <stdexcept>
#include <utility>

#include <zkrecipes/multi_lock.hpp>

#include "lock/held_together.hpp"

namespace zkrecipes {

using namespace detail;

multi_ownership::multi_ownership() noexcept = default;
multi_ownership::multi_ownership(held_ptr held) noexcept : held_(std::move(held)) {}
multi_ownership::multi_ownership(multi_ownership&&) noexcept = default;

multi_ownership& multi_ownership::operator=(multi_ownership&& other) noexcept {
  multi_ownership taken(std::move(other));
  std::swap(held_, taken.held_);  // what we had is released here
  return *this;
}

multi_ownership::~multi_ownership() {
  if (held_) held_->let_go_later();
}

multi_ownership::executor_type multi_ownership::get_executor() const noexcept {
  return held_ ? held_->session()->get_scheduler()->base : executor_type();
}

std::size_t multi_ownership::size() const noexcept { return held_ ? held_->all().size() : 0; }

const ownership& multi_ownership::at(std::size_t index) const {
  if (index >= size()) throw std::out_of_range("multi_ownership::at");
  return held_->all()[index];
}

error_code multi_ownership::error() const noexcept {
  return size() > 0 ? held_->error() : make_error_code(errc::closed);
}

lease_clock::time_point multi_ownership::valid_until() const {
  auto until = size() > 0 ? lease_clock::time_point::max() : lease_clock::time_point{};
  for (std::size_t i = 0; i < size(); ++i) until = std::min(until, at(i).valid_until());
  return until;
}

bool multi_ownership::valid() const { return !error(); }

transaction multi_ownership::fenced(transaction operations) const {
  transaction all;
  if (size() == 0) all.check({});  // no path: refused before it is sent, as with an empty `ownership`
  for (std::size_t i = 0; i < size(); ++i) all.check(at(i).path());
  return all.append(std::move(operations));
}

void multi_ownership::start_lost(handler_for<void(error_code)> h, held_ptr which) {
  const auto on = which->session()->get_scheduler();
  launch(*on, std::move(h), owning(std::move(which), &held_together::wait_lost), persistence::endless);
}

void multi_ownership::start_revoked(handler_for<void(error_code)> h, held_ptr which) {
  const auto on = which->session()->get_scheduler();
  launch(*on, std::move(h), owning(std::move(which), &held_together::wait_revoked), persistence::endless);
}

void multi_ownership::start_release(handler_for<void(error_code)> h, held_ptr which) {
  const auto on = which->session()->get_scheduler();
  launch(*on, std::move(h), owning(std::move(which), &held_together::release));
}

}  // namespace zkrecipes
