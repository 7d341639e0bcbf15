// Works under a lock, and writes its result in a fenced transaction: the servers never accept it after a later owner's.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> work(zkrecipes::session zk) {
  co_await zk.async_ensure_path("/report");
  zkrecipes::lock lock(zk, "/report/lock", {.id = "example"});
  auto held = co_await lock.async_acquire_for(10s);
  auto line = zkrecipes::transaction().create("/report/line-", "done", zkrecipes::create_mode::persistent_sequential);
  co_await zk.async_commit(held.fenced(line));  // refused if the lock has been lost meanwhile, known here or not
  co_await held.async_release();
  std::cout << "released" << std::endl;
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
