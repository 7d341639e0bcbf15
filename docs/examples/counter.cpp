// Counts orders with a counter that other processes may add to as well.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> work(zkrecipes::session zk) {
  constexpr auto token = asio::use_awaitable;
  zkrecipes::counter orders(zk, "/numbers/orders");
  const auto before = (co_await orders.async_get()).value;
  auto [error, number] = co_await orders.async_add(3, asio::as_tuple(token));
  if (error == zkrecipes::errc::outcome_unknown) {
    std::cout << "perhaps counted" << std::endl;  // the reply was lost: counting again might count twice
  } else if (!error) {
    std::cout << "counted " << number - before << std::endl;
  }
  co_await zk.async_close();
}

int main(int argc, char** argv) {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  asio::co_spawn(io, work(std::move(zk)), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
}
