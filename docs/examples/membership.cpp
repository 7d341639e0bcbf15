// Joins a group and sees who else is in it.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> work(zkrecipes::session zk) {
  zkrecipes::membership group(zk, "/group", {.wait_for_name = true});
  auto one = co_await group.async_join("one", "idle");
  auto view = group.watch();
  auto seen = co_await view.async_current();
  auto two = co_await group.async_join("two", "idle");
  co_await one.async_update("busy");
  while (seen.nodes.size() < 2 || seen.find("one")->data != "busy") {
    seen = (co_await view.async_change(seen)).now;
  }
  for (const auto& each : seen.nodes) std::cout << each->name << " is " << each->data << std::endl;
  co_await two.async_leave();
  co_await one.async_leave();
  co_await zk.async_close();
}

int main(int argc, char** argv) {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  asio::co_spawn(io, work(std::move(zk)), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
}
