#include <algorithm>
#include <utility>

#include <zkrecipes/flow/shared_gate.hpp>

namespace zkrecipes {

shared_gate_pass::shared_gate_pass(ownership held, lease_clock::time_point ends) noexcept
    : held_(std::move(held)), ends_(ends) {}

lease_clock::time_point shared_gate_pass::valid_until() const { return std::min(held_.valid_until(), ends_); }

bool shared_gate_pass::valid() const { return !error(); }

transaction shared_gate_pass::leaving(transaction operations) const {
  return transaction().remove(path()).append(std::move(operations));
}

}  // namespace zkrecipes
