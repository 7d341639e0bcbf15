// Puts orders into queues of RabbitMQ, and works off the shard of one customer: each order once, in order.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/rabbitmq.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

struct shipping : zkrecipes::queue_consumer {
  using queue_consumer::queue_consumer;

  asio::awaitable<zkrecipes::message_outcome> process(zkrecipes::term, const zkrecipes::message& order) override {
    std::cout << order.key << " gets " << order.data << std::endl;
    co_return zkrecipes::transaction().create("/shop/queued-", order.data,
                                              zkrecipes::create_mode::persistent_sequential);
  }
};

asio::awaitable<void> put_orders(zkrecipes::rabbit_queues orders) {
  zkrecipes::rabbit_producer producer(orders, "example");
  for (const auto* what : {"tea", "a cup"}) {
    co_await producer.async_put("smith", what);
    std::cout << "the broker has " << what << std::endl;
  }
}

int main(int argc, char** argv) try {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  zkrecipes::rabbit_options where;
  where.hosts = argc > 2 ? argv[2] : "127.0.0.1:5672";
  where.queue = "orders";
  where.shards = 4;
  zkrecipes::rabbit_queues orders(zk, "/shop/queues", where);
  asio::co_spawn(io, put_orders(orders), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  shipping career(orders.feed(orders.shard_of("smith")));  // other processes have the other shards
  zkrecipes::consumer_coordinator coordinator(zk, "/shop/lead-queues", {.id = "example"});
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
