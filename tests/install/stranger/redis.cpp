// Redis streams without a broker: options are checked, and a feed is made.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/redis/redis_streams.hpp>

int main() {
  boost::asio::io_context io;
  zkrecipes::session zk(io, {.hosts = "127.0.0.1:1"});
  zkrecipes::redis_options how;
  how.hosts = "127.0.0.1";
  how.stream = "orders";
  how.shards = 8;
  zkrecipes::redis_streams orders(zk, "/orders", how);
  const auto feed = orders.feed(orders.shard_of("smith"), "shipping");
  std::cout << orders.stream_of(7) << std::endl;
  return feed.get_source() ? 0 : 1;
}
