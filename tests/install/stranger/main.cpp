#include <iostream>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/zkrecipes.hpp>

// Links, runs, and gets an exception that says what is wrong with its options.
int main() {
  boost::asio::io_context io;
  try {
    zkrecipes::session refused(io.get_executor(), {.hosts = "localhost:port"});
  } catch (const std::invalid_argument& error) {
    std::cout << error.what() << '\n';
    return 0;
  }
  return 1;
}
