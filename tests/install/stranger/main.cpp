// The service: writes one line, and prints the token. The servers are the argument or, in a test, those of testcluster.
#include <cstdlib>
#include <exception>
#include <iostream>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <zkrecipes/version.hpp>

#include "service.hpp"

int main(int argc, char** argv) {
  const char* hosts = argc == 2 ? argv[1] : std::getenv("TESTCLUSTER_HOSTS");
  if (hosts == nullptr) return 2;
  boost::asio::io_context io;
  zkrecipes::session zk(io.get_executor(), {.hosts = hosts});
  int exit_code = 1;
  boost::asio::co_spawn(io, stranger::write_line(zk, "by the service"), [&](std::exception_ptr failure, auto token) {
    if (!failure) std::cout << "zkrecipes " << zkrecipes::version << ": written under token " << token << std::endl;
    exit_code = failure ? 1 : 0;
    io.stop();
  });
  io.run();
  return exit_code;
}
