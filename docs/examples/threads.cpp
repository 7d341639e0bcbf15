// A program without an event loop of its own: a thread runs the context, and main waits for futures.
#include <iostream>
#include <thread>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  const std::string hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
  asio::io_context io;
  std::jthread loop;  // what is declared first ends last: the session, the guard, the thread, the context
  auto guard = asio::make_work_guard(io);  // io.run() goes on while there is nothing to do
  loop = std::jthread([&io] { io.run(); });
  zkrecipes::session zk(io, {.hosts = hosts});

  zk.async_ensure_path("/threads", asio::use_future).get();
  zkrecipes::lock lock(zk, "/threads/lock");
  auto held = lock.async_acquire_for(10s, asio::use_future).get();  // throws boost::system::system_error
  std::cout << "held by a program that blocks" << std::endl;
  held.async_release(asio::use_future).get();
  zk.async_close(asio::use_future).get();
} catch (const std::exception& failure) {
  std::cerr << failure.what() << std::endl;
  return 1;
}
