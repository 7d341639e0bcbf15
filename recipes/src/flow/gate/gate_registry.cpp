#include "gate/gate_registry.hpp"

#include <utility>
#include <vector>

#include "gate/gate_state.hpp"

namespace zkrecipes::detail {

boost::asio::execution_context::id gate_registry::id;

gate_registry::gate_registry(boost::asio::execution_context& context)
    : boost::asio::execution_context::service(context) {}

gate_registry::list_ptr gate_registry::add(boost::asio::execution_context& context,
                                           const std::shared_ptr<gate_state>& one) {
  auto& here = boost::asio::use_service<gate_registry>(context).gates_;
  here->add(one);
  return here;
}

void gate_registry::list::add(const std::shared_ptr<gate_state>& one) {
  std::lock_guard lock(mutex_);
  all_.emplace(one.get(), one);
}

void gate_registry::list::remove(gate_state* one) {
  std::lock_guard lock(mutex_);
  all_.erase(one);
}

void gate_registry::list::shut_down() {
  std::vector<std::shared_ptr<gate_state>> alive;  // destroyed without the lock: a gate takes itself off the list
  {
    std::lock_guard lock(mutex_);
    for (const auto& [address, weak] : all_) {
      if (auto one = weak.lock()) alive.push_back(std::move(one));
    }
  }
  for (const auto& each : alive) each->shut_down();
}

}  // namespace zkrecipes::detail
