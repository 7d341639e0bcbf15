// A server that speaks as much of ZooKeeper's protocol as a test needs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace zkrecipes::test {

namespace asio = boost::asio;

/// One connection of a client.
class scripted_connection {
 public:
  explicit scripted_connection(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  /// Reads the first frame of a connection, and returns the session id in it.
  asio::awaitable<std::int64_t> read_connect();
  /// Answers the first frame. A timeout of 0 says that there is no such session.
  asio::awaitable<void> accept(std::int64_t id, std::int32_t timeout_ms, bool is_read_only = false);

  struct request {
    std::int32_t xid = 0;
    std::int32_t op = 0;
    std::string body;
  };
  asio::awaitable<request> read_request();
  /// Sends an answer that tells nothing.
  asio::awaitable<void> answer(std::int32_t xid, std::int32_t error = 0);
  /// Sends an answer that tells nothing and a watch event in one write, so that the client reads both at once.
  asio::awaitable<void> answer_and_fire(std::int32_t xid, std::int32_t error, std::int32_t event, std::string path);

  /// Sends these bytes.
  asio::awaitable<void> write(std::string bytes);

  /// Waits until something has come, and leaves it unread.
  asio::awaitable<void> await_input();
  /// The client finds the end of what we send.
  void end_sending() { socket_.shutdown(asio::ip::tcp::socket::shutdown_send); }

  /// Waits until the client has closed the connection.
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
