// Replaces a value only if nobody has changed it since it was read.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> work(zkrecipes::session zk) {
  constexpr auto token = asio::use_awaitable;
  zkrecipes::shared_value limit(zk, "/limits/requests");
  co_await limit.async_set("100");
  auto seen = co_await limit.async_get();
  auto now = co_await limit.async_compare_and_set(seen.stat, "200");
  std::cout << "set, version " << now.version << std::endl;
  auto [error, late] = co_await limit.async_compare_and_set(seen.stat, "300", asio::as_tuple(token));
  std::cout << "too late: " << error.message() << std::endl;
  auto changed = co_await limit.async_change(seen.stat);  // completes at once: the value has changed since
  std::cout << "it is " << changed.data << std::endl;
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
