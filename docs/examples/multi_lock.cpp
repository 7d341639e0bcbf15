// Moves something between two accounts while it holds the locks of both.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> move(zkrecipes::session zk) {
  co_await zk.async_ensure_path("/accounts/anna");
  co_await zk.async_ensure_path("/accounts/otto");
  zkrecipes::multi_lock both(zk, {"/locks/otto", "/locks/anna"}, {.id = "example"});
  auto held = co_await both.async_acquire_for(10s);
  // Refused unless both locks are still ours when the servers execute it.
  auto transfer = zkrecipes::transaction().set("/accounts/anna", "90").set("/accounts/otto", "110");
  co_await zk.async_commit(held.fenced(transfer));
  co_await held.async_release();
  std::cout << "moved" << std::endl;
  co_await zk.async_close();
}

int main(int argc, char** argv) {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  asio::co_spawn(io, move(std::move(zk)), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
}
