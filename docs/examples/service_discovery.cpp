// Registers an instance of a service, and finds it.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;

asio::awaitable<void> work(zkrecipes::session zk) {
  zkrecipes::service_discovery services(zk, "/services");
  zkrecipes::service_instance me{.name = "billing", .address = "10.0.0.7", .port = 8080};
  auto registration = co_await services.async_register(me);

  zkrecipes::service_provider billing(services, "billing", {.strategy = zkrecipes::service_strategy::random});
  auto chosen = co_await billing.async_pick();
  std::cout << "billing is at " << chosen.address << ':' << *chosen.port << std::endl;
  billing.note_error(chosen);  // after two errors it is not chosen for a while

  auto view = services.watch("billing");
  auto seen = co_await view.async_current();
  co_await registration.async_set_enabled(false);  // it drains: asks for no more work, and stays registered
  auto change = co_await view.async_change(seen);
  std::cout << change.changed.size() << " instance drains" << std::endl;
  co_await registration.async_unregister();
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
