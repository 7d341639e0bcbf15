// Puts its arguments into a queue, each exactly once, whatever happens to the connection on the way.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> put_all(zkrecipes::session zk, std::vector<std::string> items) {
  zkrecipes::producer producer(zkrecipes::queue(zk, "/billing/queue"), "example");
  for (auto& item : items) {
    auto number = co_await producer.async_put(std::move(item));
    std::cout << "item " << number << " is in the queue\n";
  }
  co_await zk.async_close();
}

int main(int argc, char** argv) {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  asio::co_spawn(io, put_all(std::move(zk), {argv + std::min(argc, 2), argv + argc}), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
}
