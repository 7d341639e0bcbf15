// Keeps a node with this process's address, and creates it again after its session has expired.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> work(zkrecipes::session zk) {
  zkrecipes::persistent_node node(zk, "/addresses/worker-1", "10.0.0.7:8080");
  co_await node.async_started();
  std::cout << "stands, made " << node.status().created << " time" << std::endl;
  co_await node.async_set_data("10.0.0.7:9090");  // later sessions create the node with this data
  auto seen = co_await zk.async_get(node.path());
  std::cout << "says " << seen.data << std::endl;
  co_await node.async_close();
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
