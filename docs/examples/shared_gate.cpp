// Consumers of a broker are asked to refresh a customer. Many requests of one customer need few refreshes, whichever
// processes they come to.
#include <algorithm>
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// What the consumer of a message does. True: acknowledge it. False: give it back, to be delivered again.
asio::awaitable<bool> consume(zkrecipes::shared_gate& gate, std::string customer, bool is_redelivered) {
  const auto how = is_redelivered ? zkrecipes::arrival::redelivered : zkrecipes::arrival::first;
  auto [error, pass] = co_await gate.async_enter(customer, how, asio::as_tuple(asio::use_awaitable));
  if (error == zkrecipes::errc::declined) co_return true;  // another message, which is not acknowledged, does the work
  if (error) co_return false;
  asio::steady_timer slow(co_await asio::this_coro::executor, 50ms);
  co_await slow.async_wait(asio::use_awaitable);
  zkrecipes::transaction effects;
  effects.create("/refreshed-", customer, zkrecipes::create_mode::persistent_sequential);
  auto session = gate.get_session();
  auto committing = session.async_commit(pass.leaving(effects), asio::as_tuple(asio::use_awaitable));
  auto [failure, results] = co_await std::move(committing);
  co_return !failure;
}

asio::awaitable<long> refreshes(zkrecipes::session zk) {
  const auto listed = co_await zk.async_children("/");
  co_return std::ranges::count_if(listed.names, [](const auto& each) { return each.starts_with("refreshed-"); });
}

int main(int argc, char** argv) {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  zkrecipes::shared_gate gate(zk, "/refreshing", {.id = "consumer-1"});
  asio::co_spawn(
      io,
      [&]() -> asio::awaitable<void> {
        const auto before = co_await refreshes(zk);
        int left = 5;
        asio::steady_timer all(io, asio::steady_timer::time_point::max());
        for (int i = left; i > 0; --i) {
          asio::co_spawn(io, consume(gate, "smith", false), [&](std::exception_ptr, bool) {
            if (--left == 0) all.cancel();
          });
        }
        co_await all.async_wait(asio::as_tuple(asio::use_awaitable));
        const auto after = co_await refreshes(zk);
        std::cout << "refreshed " << after - before << " times" << std::endl;
        co_await zk.async_close();
      },
      asio::detached);
  io.run();
}
