// One of several processes that share the shards of a topic: each order once, in the order of its customer.
#include <iostream>
#include <memory>

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

struct shipping : zkrecipes::queue_consumer {
  using queue_consumer::queue_consumer;

  asio::awaitable<zkrecipes::message_outcome> process(zkrecipes::term, const zkrecipes::message& order) override {
    std::cout << order.key << " gets " << order.data << std::endl;
    co_return zkrecipes::transaction().create("/shop/shared-", order.data,
                                              zkrecipes::create_mode::persistent_sequential);
  }
};

asio::awaitable<void> put_orders(zkrecipes::topic orders) {
  zkrecipes::topic_producer producer(orders, "example");
  for (const auto* who : {"smith", "jones"}) co_await producer.async_put(who, "tea");
}

int main(int argc, char** argv) {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  zkrecipes::topic orders(zk, "/shop/orders-of-all", {.shards = 8, .retention = {.groups = {"shipping"}}});
  asio::co_spawn(io, put_orders(orders), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  zkrecipes::shard_group group(zk, "/shop/owners", {.id = argc > 2 ? argv[2] : "shipping-1", .shards = 8});
  auto make = [&](const zkrecipes::shard& which) {
    return std::make_unique<shipping>(orders.feed(which.number, "shipping"));
  };
  asio::signal_set stop(io, SIGINT, SIGTERM);
  stop.async_wait([&](auto, int) { group.drain(); });  // `stop` if this process comes back at once
  bool has_failed = false;
  group.async_run(make, [&](auto error) {
    std::cout << error.message() << std::endl;
    has_failed = bool(error);
    stop.cancel();
    zk.async_close([](auto) {});
  });
  io.run();
  return has_failed;
}
