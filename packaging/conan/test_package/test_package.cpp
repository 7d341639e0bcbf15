// Links the library, and needs no server: nothing is sent before the context runs.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

int main() {
  boost::asio::io_context io;
  zkrecipes::session zk(io, {.hosts = "127.0.0.1:2181"});
  std::cout << "zkrecipes " << zkrecipes::version << ", " << zkrecipes::lock(zk, "/a/lock").path() << std::endl;
}
