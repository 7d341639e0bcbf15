// Three processes of a service call a bank at most 300 times a second together. Here each of them is a session.
#include <array>
#include <iostream>
#include <string>

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct service {
  service(asio::io_context& io, const std::string& hosts, const std::string& id)
      : zk(io, {.hosts = hosts}), bank(zk, "/limits/bank", {.id = id, .rate = 300, .slices = 30}) {}

  asio::awaitable<void> run() {
    co_await bank.async_run();
    co_await zk.async_close();
  }
  asio::awaitable<void> call() {
    for (int i = 1; i <= 60; ++i) {
      co_await bank.async_acquire();      // no round trip; then call the bank
      if (i == 30) bank.hold_off(100ms);  // the bank has said "429 Too Many Requests" and "Retry-After"
    }
    const auto share = bank.status();
    std::cout << bank.options().id << " has made 60 calls, with " << share.slices << " of " << share.all << " slices"
              << std::endl;
    bank.stop();
  }

  zkrecipes::session zk;
  zkrecipes::shared_limiter bank;
};

int main(int argc, char** argv) {
  asio::io_context io;
  const std::string hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
  std::array<service, 3> all{service(io, hosts, "orders-1"), service(io, hosts, "orders-2"),
                             service(io, hosts, "orders-3")};
  const auto rethrow = [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  };
  for (auto& each : all) {
    asio::co_spawn(io, each.run(), rethrow);
    asio::co_spawn(io, each.call(), rethrow);
  }
  io.run();
  std::cout << "all calls are made" << std::endl;
}
