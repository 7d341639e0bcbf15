// Two members compute in step: nobody begins a round before both are there, nobody ends it before both are done.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> member(zkrecipes::session zk, std::string id) {
  zkrecipes::double_barrier meeting(zk, "/simulation/step", 2, {.id = id});
  for (int i = 0; i < 3; ++i) {
    auto inside = co_await meeting.async_enter_for(10s);
    std::cout << id + " works in round " + std::to_string(inside.round()) + '\n' << std::flush;
    co_await inside.async_leave();
  }
}

int main(int argc, char** argv) {
  asio::io_context io;
  for (const char* id : {"first", "second"}) {
    zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
    asio::co_spawn(io, member(std::move(zk), id), [](std::exception_ptr failure) {
      if (failure) std::rethrow_exception(failure);
    });
  }
  io.run();
}
