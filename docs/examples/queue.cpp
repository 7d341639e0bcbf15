// Puts a batch and processes each item at least once, with effects that happen exactly once. An item that can not be
// processed becomes a dead letter.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> work(zkrecipes::session zk) {
  zkrecipes::queue orders(zk, "/orders", {.limit = 1000, .max_attempts = 3});
  co_await zk.async_ensure_path("/invoices");
  const std::vector<std::string> batch{"apples", "nonsense", "pears"};
  co_await orders.async_put_many(batch);
  for (int i = 0; i < 3; ++i) {
    auto item = co_await orders.async_take();
    if (item.data == "nonsense") {
      co_await orders.async_reject(item, "nobody sells that");
      continue;
    }
    auto invoice =
        zkrecipes::transaction().create("/invoices/i-", item.data, zkrecipes::create_mode::persistent_sequential);
    co_await orders.async_acknowledge(item, invoice);
    std::cout << "invoiced " << item.data << std::endl;
  }
  auto letters = co_await orders.async_dead_letters();
  for (auto& letter : letters) {
    std::cout << "not done: " << letter.data << " (" << letter.reason << ")" << std::endl;
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
