// Writes each record to two stores; neither may be more than ten records ahead of the other. It needs no server.
#include <chrono>
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> write_all(zkrecipes::balance_track track, std::chrono::milliseconds for_each) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (int record = 0; record < 100; ++record) {
    if (!track.try_move()) co_await track.async_move();  // waits for the slower store
    timer.expires_after(for_each);
    co_await timer.async_wait(asio::use_awaitable);
  }
  std::cout << "the " << track.name() << " has all records\n";
}  // the track leaves, so that nobody waits for it any more

int main() {
  asio::io_context io;
  zkrecipes::balance pace(io.get_executor(), {.range = 10});
  asio::co_spawn(io, write_all(pace.track("memory"), std::chrono::milliseconds(0)), asio::detached);
  asio::co_spawn(io, write_all(pace.track("disk"), std::chrono::milliseconds(2)), asio::detached);
  io.run();
  std::cout << "never more than " << pace.status().largest_spread << " records apart\n";
}
