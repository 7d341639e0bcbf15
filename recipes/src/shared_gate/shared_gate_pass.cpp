#include <algorithm>
#include <utility>

#include <zkrecipes/shared_gate_pass.hpp>

#include "line/own_node.hpp"

namespace zkrecipes {

using namespace detail;

shared_gate_pass::shared_gate_pass(ownership held, own_node_ptr node, lease_clock::time_point ends) noexcept
    : held_(std::move(held)), node_(std::move(node)), ends_(ends) {}

lease_clock::time_point shared_gate_pass::valid_until() const { return std::min(held_.valid_until(), ends_); }

bool shared_gate_pass::valid() const {
  const auto until = valid_until();  // first: what happens meanwhile counts against us
  return node_ && node_->session()->now() < until;
}

transaction shared_gate_pass::leaving(transaction operations) const {
  return transaction().remove(path()).append(std::move(operations));
}

}  // namespace zkrecipes
