// A small HTTP server for probes, metrics and messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

namespace service {

using http_request = boost::beast::http::request<boost::beast::http::string_body>;
using http_response = boost::beast::http::response<boost::beast::http::string_body>;
/// Makes the answer to a request. An exception becomes the answer 500, which does not tell strangers what it says.
using http_handler = std::function<boost::asio::awaitable<http_response>(const http_request&)>;

struct http_limits {
  std::size_t body = 1'000'000;  ///< A longer request is answered with 413.
  /// For one more the connection is closed that has been without a whole request for longest. So that there always is
  /// one, this is to be more than the requests that the handler can have in hand.
  std::size_t connections = 1'500;
  /// The bytes of all requests that are being received or answered. For more, those go that have been incomplete for
  /// longest; if there are none, a request is answered with 503.
  std::size_t bodies = 64'000'000;
  std::chrono::seconds idle{30};  ///< A connection without a whole request for so long is closed.
  std::chrono::milliseconds last_write{
      1'000};  ///< While the server closes, an answer that is not read in this time is cut.
};

/// Serves as many connections as the limits allow, with keep-alive. Thread safety: none, the context has one thread.
class http_server {
 public:
  /// Listens. Throws std::runtime_error, which names the address, if it can not be had.
  http_server(boost::asio::io_context& io, const std::string& address, std::uint16_t port, http_handler handler,
              http_limits limits = {});

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  void start();
  /// Accepts no more, closes idle connections, and completes when requests in hand have been answered: when the handler
  /// has ended, and `http_limits::last_write` later at most. The server must live until then, or until the context has
  /// been destroyed.
  boost::asio::awaitable<void> close();

 private:
  struct connection {
    boost::beast::tcp_stream stream;
    enum { idle, answering, writing, dropped } state = idle;
    std::size_t bytes = 0;  // of the body of its request
    std::chrono::steady_clock::time_point idle_since = std::chrono::steady_clock::now();
  };
  using shared_connection = std::shared_ptr<connection>;

  boost::asio::awaitable<void> accept();
  boost::asio::awaitable<void> pause_accepting();
  bool make_room();
  bool make_room_for(connection& of, std::size_t bytes);
  bool drop_oldest(const std::function<bool(const connection&)>& among);
  boost::asio::awaitable<void> serve(shared_connection on);
  boost::asio::awaitable<bool> serve_one(connection& on, boost::beast::flat_buffer& buffer);
  boost::asio::awaitable<http_response> answer(const http_request& to);

  boost::asio::ip::tcp::acceptor acceptor_;
  http_handler handler_;
  const http_limits limits_;
  std::set<shared_connection> connections_;
  bool accepting_ = false;
  bool closing_ = false;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer ended_;  ///< Cancelled when a coroutine of this server has ended.
};

}  // namespace service
