#include "balance/waiting_balances.hpp"

#include "balance/core.hpp"

namespace zkrecipes::detail {

asio::execution_context::id waiting_balances::id;

waiting_balances::waiting_balances(asio::execution_context& context) : asio::execution_context::service(context) {}

void waiting_balances::add(const std::shared_ptr<balance_core>& each) {
  const std::lock_guard lock(mutex_);
  all_.emplace(each.get(), each);
}

void waiting_balances::remove(balance_core* each) noexcept {
  const std::lock_guard lock(mutex_);
  all_.erase(each);
}

void waiting_balances::shutdown() {
  // To abandon one may destroy others, so each is looked for anew.
  while (const auto each = next()) each->abandon();
}

std::shared_ptr<balance_core> waiting_balances::next() {
  const std::lock_guard lock(mutex_);
  while (!all_.empty()) {
    auto first = all_.begin()->second.lock();
    all_.erase(all_.begin());
    if (first) return first;
  }
  return nullptr;
}

}  // namespace zkrecipes::detail
