// A spooled producer without an ensemble: the message is in the file when the program ends.
#include <cstdio>
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  boost::asio::io_context io;
  zkrecipes::session zk(io, {.hosts = "127.0.0.1:1"});
  zkrecipes::spool_options how;
  how.file = argv[1];
  zkrecipes::spooled_producer spool(zkrecipes::topic(zk, "/orders"), "stranger", how);
  int result = 1;
  spool.async_put("key", "data", [&](zkrecipes::error_code error, std::uint64_t number) {
    std::cout << error.message() << ' ' << number << std::endl;
    result = error ? 1 : 0;
    io.stop();
  });
  io.run();
  return result;
}
