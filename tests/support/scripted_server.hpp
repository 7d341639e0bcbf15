// A server that speaks as much of ZooKeeper's protocol as a test wants it to.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace zkrecipes::test {

namespace asio = boost::asio;

/// One connection of a client.
class scripted_connection {
 public:
  explicit scripted_connection(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  /// Reads the first frame of a connection; returns the session id asked for.
  asio::awaitable<std::int64_t> read_connect();
  /// Answers it; a timeout of 0 says that there is no such session.
  asio::awaitable<void> accept(std::int64_t id, std::int32_t timeout_ms);

  struct request {
    std::int32_t xid = 0;
    std::int32_t op = 0;
    std::string body;
  };
  asio::awaitable<request> read_request();
  /// An answer without contents.
  asio::awaitable<void> answer(std::int32_t xid, std::int32_t error = 0);
  /// An answer without contents and an event of a watch, to be read in one go.
  asio::awaitable<void> answer_and_fire(std::int32_t xid, std::int32_t error, std::int32_t event, std::string path);

  /// Waits until the client has gone.
  asio::awaitable<void> until_end();

 private:
  asio::awaitable<std::string> read_frame();
  asio::awaitable<void> write_frame(std::string body);

  asio::ip::tcp::socket socket_;
};

/// Listens on a loopback address and runs `script` for every connection; the connection ends with the script.
class scripted_server {
 public:
  using script = std::function<asio::awaitable<void>(scripted_connection)>;

  scripted_server(asio::io_context& io, script each);
  const std::string& address() const { return address_; }
  void stop() { acceptor_.close(); }

 private:
  asio::awaitable<void> listen();

  asio::ip::tcp::acceptor acceptor_;
  script script_;
  std::string address_;
};

}  // namespace zkrecipes::test
