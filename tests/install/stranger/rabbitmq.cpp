// RabbitMQ queues without a broker: options are checked, and a feed, a producer and a spooled producer are made. The
// component brings along what the last one needs.
#include <cstdio>
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/rabbitmq/rabbit_producer.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>
#include <zkrecipes/rabbitmq/rabbit_spool.hpp>

int main() {
  boost::asio::io_context io;
  zkrecipes::session zk(io, {.hosts = "127.0.0.1:1"});
  zkrecipes::rabbit_options how;
  how.hosts = "127.0.0.1";
  how.queue = "orders";
  how.shards = 8;
  zkrecipes::rabbit_queues orders(zk, "/orders", how);
  const auto feed = orders.feed(orders.shard_of("smith"));
  const zkrecipes::rabbit_producer intake(orders, "intake");
  {
    zkrecipes::spool_options file;
    file.file = "stranger_rabbitmq.spool";
    const auto spooled = zkrecipes::spool_into(orders, "spool", file);
  }
  for (const auto* each : {"stranger_rabbitmq.spool", "stranger_rabbitmq.spool-wal"}) std::remove(each);
  std::cout << orders.queue_of(7) << std::endl;
  return feed.get_source() ? 0 : 1;
}
