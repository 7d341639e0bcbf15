// Puts its arguments into a topic by way of a file. It also works while the ensemble is away: the next run puts what is
// in the file.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> put_all(zkrecipes::session zk, std::string file, std::vector<std::string> orders) {
  zkrecipes::spool_options how;
  how.file = std::move(file);
  zkrecipes::spooled_producer spool(zkrecipes::topic(zk, "/shop/spooled", {.shards = 4}), "example", how);
  try {
    for (auto& order : orders) {
      auto number = co_await spool.async_put("smith", std::move(order));
      std::cout << "order " << number << " can not get lost any more\n";
    }
    co_await spool.async_close(10s);
    std::cout << "all orders are in the topic\n";
  } catch (const boost::system::system_error& failure) {
    std::cout << failure.code().message() << ": " << spool.status().trouble << '\n';
  }
  co_await zk.async_close();
}

int main(int argc, char** argv) {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  const std::string file = argc > 2 ? argv[2] : "orders.spool";
  asio::co_spawn(io, put_all(std::move(zk), file, {argv + std::min(argc, 3), argv + argc}),
                 [](std::exception_ptr failure) {
                   if (failure) std::rethrow_exception(failure);
                 });
  io.run();
}
