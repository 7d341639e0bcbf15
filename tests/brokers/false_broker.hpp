// Something that takes the connections of consumers and is no broker.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "support/coroutine.hpp"

namespace zkrecipes::test {

class false_broker {
 public:
  /// Serves one connection.
  using server = std::function<asio::awaitable<void>(asio::ip::tcp::socket)>;

  false_broker(asio::io_context& io, server serve)
      : acceptor_(io, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)), serve_(std::move(serve)) {
    asio::co_spawn(io, accept(), asio::detached);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  void close() { acceptor_.close(); }

 private:
  asio::awaitable<void> accept() {
    for (;;) {
      auto [error, socket] = co_await acceptor_.async_accept(tuple);
      if (error) co_return;
      asio::co_spawn(acceptor_.get_executor(), serve_(std::move(socket)), asio::detached);
    }
  }

  asio::ip::tcp::acceptor acceptor_;
  server serve_;
};

}  // namespace zkrecipes::test
