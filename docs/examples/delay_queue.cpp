// Hands out items when their time has come, by the clock of the ensemble's leader.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> work(zkrecipes::session zk) {
  zkrecipes::delay_queue reminders(zk, "/reminders");
  co_await reminders.async_put("the tea is ready", 500ms);
  co_await reminders.async_put("pour the water", 100ms);
  for (int i = 0; i < 2; ++i) {
    auto reminder = co_await reminders.async_pop();
    std::cout << reminder.data << std::endl;
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
