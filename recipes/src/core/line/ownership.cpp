// The public face of a node that is first in its line.
#include <utility>

#include <zkrecipes/ownership.hpp>

#include "line/own_node.hpp"

namespace zkrecipes {

using namespace detail;

ownership::ownership() noexcept = default;
ownership::ownership(std::shared_ptr<own_node> node) noexcept : node_(std::move(node)) {}
ownership::ownership(ownership&&) noexcept = default;

ownership& ownership::operator=(ownership&& other) noexcept {
  ownership taken(std::move(other));
  std::swap(node_, taken.node_);  // what we had is released here
  return *this;
}

ownership::~ownership() {
  if (node_ && !node_->lost()) node_->leave_later();
}

ownership::executor_type ownership::get_executor() const noexcept {
  return node_ ? node_->get_scheduler()->base : executor_type();
}

std::int64_t ownership::token() const noexcept { return node_ ? node_->token() : 0; }

const std::string& ownership::path() const noexcept { return node_ ? node_->path() : no_path(); }

error_code ownership::error() const noexcept { return node_ ? node_->hold().error() : make_error_code(errc::closed); }

lease_clock::time_point ownership::valid_until() const {
  return node_ ? node_->hold().valid_until() : lease_clock::time_point{};
}

bool ownership::valid() const { return !error(); }

transaction ownership::fenced(transaction operations) const {
  return transaction().check(path()).append(std::move(operations));
}

void ownership::start_lost(handler_for<void(error_code)> h, own_node_ptr which) {
  launch_endless(std::move(h), std::move(which), &own_node::wait_lost);
}

void ownership::start_revoked(handler_for<void(error_code)> h, own_node_ptr which) {
  launch_endless(std::move(h), std::move(which), &own_node::wait_revoked);
}

void ownership::start_release(handler_for<void(error_code)> h, own_node_ptr which) {
  launch_endless(std::move(h), std::move(which), &own_node::leave);
}

}  // namespace zkrecipes
