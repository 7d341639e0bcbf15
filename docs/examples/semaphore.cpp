// At most two of these workers use the press at the same time, however many processes there are.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> work(zkrecipes::session zk, std::string name, int& left) {
  zkrecipes::semaphore press(zk, "/press", 2, {.id = name});
  auto permit = co_await press.async_acquire_for(1, 10s);
  auto state = co_await press.async_state();
  std::cout << name << " works, " << state.taken << " of " << state.size << " taken" << std::endl;
  co_await permit.async_release();
  if (--left > 0) co_return;
  std::cout << "all done" << std::endl;
  co_await zk.async_close();
}

int main(int argc, char** argv) {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  int left = 4;
  for (auto name : {"ann", "bob", "cid", "dee"}) {
    asio::co_spawn(io, work(zk, name, left), [](std::exception_ptr failure) {
      if (failure) std::rethrow_exception(failure);
    });
  }
  io.run();
}
