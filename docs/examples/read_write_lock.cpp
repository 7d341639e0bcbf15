// Reads under a shared lock, writes under an exclusive one, and downgrades it, so that others can read what was written
// before the next write.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> work(zkrecipes::session zk) {
  zkrecipes::read_write_lock lock(zk, "/catalogue/lock", {.id = "example"});
  {
    auto share = co_await lock.async_acquire_read();
    std::cout << "reading" << std::endl;
    co_await share.async_release();
  }
  auto alone = co_await lock.async_acquire_write();
  std::cout << "writing with token " << alone.token() << std::endl;
  co_await lock.async_downgrade(alone);
  std::cout << "sharing what was written" << std::endl;
  co_await alone.async_release();
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
