// Workers wait at a barrier until it is lifted, when everything has been prepared.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> worker(zkrecipes::session zk, int number) {
  zkrecipes::barrier gate(zk, "/jobs/gate");
  co_await gate.async_wait_for(10s);
  std::cout << "worker " << number << " goes on" << std::endl;
}

asio::awaitable<void> prepare(zkrecipes::session zk) {
  zkrecipes::barrier gate(zk, "/jobs/gate");
  co_await gate.async_raise();
  for (int number : {1, 2}) asio::co_spawn(zk.get_executor(), worker(zk, number), asio::detached);
  std::cout << "prepared" << std::endl;
  co_await gate.async_lift();
}

int main(int argc, char** argv) {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  asio::co_spawn(io, prepare(std::move(zk)), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
}
