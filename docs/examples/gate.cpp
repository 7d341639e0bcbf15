// Orders change the totals of customers. Many orders of one customer need few computations of the total.
#include <iostream>
#include <map>

#include <boost/asio.hpp>

#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct shop {
  zkrecipes::gate gate;
  std::map<std::string, int> orders;
  std::map<std::string, int> totals;
};

asio::awaitable<void> order(shop& of, std::string customer) {
  ++of.orders[customer];  // before the gate: a computation that begins later sees it
  auto [error, pass] = co_await of.gate.async_enter(customer, asio::as_tuple(asio::use_awaitable));
  if (error == zkrecipes::errc::declined) {
    std::cout << customer << ": another computation comes anyway" << std::endl;
    co_return;
  }
  const int sum = of.orders[customer];
  asio::steady_timer slow(co_await asio::this_coro::executor, 50ms);
  co_await slow.async_wait(asio::use_awaitable);
  if (pass.valid()) of.totals[customer] = sum;  // not if it took too long, and a newer computation has begun
}

int main() {
  asio::io_context io;
  shop corner{zkrecipes::gate(io, {.safety = 10s}), {}, {}};
  for (const auto* customer : {"smith", "jones", "smith", "smith", "smith"}) {
    asio::co_spawn(io, order(corner, customer), [](std::exception_ptr failure) {
      if (failure) std::rethrow_exception(failure);
    });
  }
  io.run();
  std::cout << "smith has " << corner.totals["smith"] << " orders, computed in "
            << corner.gate.statistics().accepted - 1 << " steps" << std::endl;
}
