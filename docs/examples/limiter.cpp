// Calls a bank at most ten times a second, two at once, and tells each customer the balance once in a while.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> call(zkrecipes::limiter bank, zkrecipes::keyed_limiter balances, int number, int& left) {
  co_await bank.async_acquire();
  std::cout << "call " << number << std::endl;
  if (number == 2) bank.hold_off(300ms);  // the bank has said "429 Too Many Requests" and "Retry-After"
  auto [error] = co_await balances.async_acquire("smith", asio::as_tuple(asio::use_awaitable));
  std::cout << (error ? error.message() : "smith is told the balance") << std::endl;
  if (--left == 0) std::cout << bank.statistics().waited << " calls have waited" << std::endl;
}

int main() {
  asio::io_context io;
  zkrecipes::limiter bank(io, {.rate = 10, .per = 1s, .burst = 2});
  zkrecipes::keyed_limiter balances(io, {.rate = 1, .per = 500ms, .coalesce = zkrecipes::keep::newest});
  int left = 5;
  for (int number = 1; number <= 5; ++number) {
    asio::co_spawn(io, call(bank, balances, number, left), [](std::exception_ptr failure) {
      if (failure) std::rethrow_exception(failure);
    });
  }
  io.run();
}
