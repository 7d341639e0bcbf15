// Follows the children of a node and prints each change.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> work(zkrecipes::session zk) {
  zkrecipes::children_view view(zk, "/settings");  // the node may be created later
  auto seen = co_await view.async_current();
  co_await zk.async_ensure_path("/settings/color");
  co_await zk.async_set("/settings/color", "blue", zkrecipes::any_version);
  auto is_blue = [&] {
    auto node = seen.find("color");
    return node && node->data == "blue";
  };
  while (!is_blue()) {
    auto change = co_await view.async_change(seen);
    for (const auto& node : change.added) std::cout << "new: " << node->name << std::endl;
    for (const auto& node : change.changed) std::cout << "changed: " << node->name << std::endl;
    for (const auto& node : change.removed) std::cout << "gone: " << node->name << std::endl;
    seen = change.now;
  }
  std::cout << "color is blue" << std::endl;
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
