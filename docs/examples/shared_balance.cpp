// Three processes copy the same records; none may be more than 20 records ahead of another. Here each is a session.
#include <array>
#include <chrono>
#include <iostream>
#include <string>

#include <boost/asio.hpp>

#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct copier {
  copier(asio::io_context& io, const std::string& hosts, const std::string& id)
      : zk(io, {.hosts = hosts}), pace(zk, "/pace/copies", {.id = id, .range = 20}), track(pace.track(id)) {}

  asio::awaitable<void> run() {
    co_await pace.async_run();
    co_await zk.async_close();
  }
  asio::awaitable<void> copy(std::chrono::milliseconds for_each) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (int record = 0; record < 100; ++record) {
      if (!track.try_move()) co_await track.async_move();  // waits for the slower copies
      timer.expires_after(for_each);
      co_await timer.async_wait(asio::use_awaitable);
    }
    std::cout << track.name() << " has all records" << std::endl;
    pace.stop();  // so that nobody waits for it any more
  }

  zkrecipes::session zk;
  zkrecipes::shared_balance pace;
  zkrecipes::shared_balance_track track;
};

int main(int argc, char** argv) {
  asio::io_context io;
  const std::string hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
  std::array<copier, 3> all{copier(io, hosts, "memory"), copier(io, hosts, "disk"), copier(io, hosts, "tape")};
  const auto rethrow = [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  };
  auto for_each = 0ms;
  for (auto& each : all) {
    asio::co_spawn(io, each.run(), rethrow);
    asio::co_spawn(io, each.copy(for_each), rethrow);
    for_each += 2ms;
  }
  io.run();
  std::cout << "all copies are made" << std::endl;
}
