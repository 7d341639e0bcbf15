// Reads under a shared lock, writes under an exclusive one, and downgrades it, so that others can read what was written
// before the next write.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> work(zkrecipes::session zk) {
  constexpr auto token = asio::use_awaitable;
  zkrecipes::read_write_lock lock(zk, "/catalogue/lock", {.id = "example"});
  {
    auto share = co_await lock.async_acquire_read(token);
    std::cout << "reading" << std::endl;
    co_await share.async_release(token);
  }
  auto alone = co_await lock.async_acquire_write(token);
  std::cout << "writing with token " << alone.token() << std::endl;
  co_await lock.async_downgrade(alone, token);
  std::cout << "sharing what was written" << std::endl;
  co_await alone.async_release(token);
  co_await zk.async_close(token);
}

int main(int argc, char** argv) {
  asio::io_context io;
  zkrecipes::session zk(io.get_executor(), {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  asio::co_spawn(io, work(std::move(zk)), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
}
