// Puts orders into streams of Redis, and works off the shard of one customer: each order once, in order.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/redis.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

struct shipping : zkrecipes::queue_consumer {
  using queue_consumer::queue_consumer;

  asio::awaitable<zkrecipes::message_outcome> process(zkrecipes::term, const zkrecipes::message& order) override {
    std::cout << order.key << " gets " << order.data << std::endl;
    co_return zkrecipes::transaction().create("/shop/streamed-", order.data,
                                              zkrecipes::create_mode::persistent_sequential);
  }
};

asio::awaitable<void> put_orders(zkrecipes::redis_streams orders) {
  zkrecipes::redis_producer producer(orders, "example");
  for (const auto* what : {"tea", "a cup"}) {
    auto number = co_await producer.async_put("smith", what);
    std::cout << "order " << number << " is in its stream" << std::endl;
  }
}

int main(int argc, char** argv) try {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  zkrecipes::redis_options where;
  where.hosts = argc > 2 ? argv[2] : "127.0.0.1:6379";
  where.stream = "orders";
  where.shards = 4;
  where.groups = {"shipping"};
  zkrecipes::redis_streams orders(zk, "/shop/streams", where);
  asio::co_spawn(io, put_orders(orders), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  shipping career(orders.feed(orders.shard_of("smith"), "shipping"));  // other processes have the other shards
  zkrecipes::consumer_coordinator coordinator(zk, "/shop/lead-streams", {.id = "example"});
  asio::signal_set stop(io, SIGINT, SIGTERM);
  stop.async_wait([&](auto, int) { coordinator.stop(); });
  bool has_failed = false;
  coordinator.async_run(career, [&](auto error) {
    std::cout << error.message() << std::endl;
    has_failed = bool(error);
    stop.cancel();
    zk.async_close([](auto) {});
  });
  io.run();
  if (auto why = coordinator.failure()) std::rethrow_exception(why);  // what the career has thrown
  return has_failed;
} catch (const std::exception& failure) {
  std::cerr << failure.what() << std::endl;
  return 1;
}
