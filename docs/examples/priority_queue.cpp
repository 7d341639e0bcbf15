// Takes urgent jobs before usual ones.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> work(zkrecipes::session zk) {
  zkrecipes::priority_queue jobs(zk, "/jobs");
  co_await jobs.async_put("tidy up", 900);
  co_await jobs.async_put("put out the fire", 0);
  for (int i = 0; i < 2; ++i) {
    auto job = co_await jobs.async_take();
    std::cout << "now: " << job.data << std::endl;
    co_await jobs.async_acknowledge(job);
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
