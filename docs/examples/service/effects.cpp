// Shows the effects of the service: the data of the nodes that the worker has made, one a line.
#include <algorithm>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include "configuration.hpp"
#include "json_log.hpp"
#include "parts.hpp"

namespace {

boost::asio::awaitable<void> show(zkrecipes::session zk, std::string folder) {
  auto effects = co_await zk.async_children(folder);
  std::sort(effects.names.begin(), effects.names.end());
  for (const auto& name : effects.names) {
    auto effect = co_await zk.async_get(folder + "/" + name);
    std::cout << effect.data << "\n";
  }
  co_await zk.async_close();
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count != 2) throw std::invalid_argument("usage: effects CONFIGURATION");
    const auto settings = service::load_configuration(arguments[1]);
    service::json_log log(std::cerr, zkrecipes::log_severity::error);
    boost::asio::io_context io(1);
    boost::asio::co_spawn(io, show(service::make_session(io, settings, log), settings.output),
                          [](std::exception_ptr failure) {
                            if (failure) std::rethrow_exception(failure);
                          });
    io.run();
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << std::endl;
    return 1;
  }
}
