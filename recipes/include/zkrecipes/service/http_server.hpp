// A small HTTP server for probes, metrics and messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes::service {

/// What a client asks for.
struct http_request {
  std::string method{};
  std::string target{};  ///< The path, without the query.
  std::map<std::string, std::string, std::less<>>
      fields{};  ///< By name, in lower case; of two with one name the first.
  std::string body{};
  std::string query{};  ///< What follows the `?`.

  /// The text of a field, by its name in lower case; empty if there is none.
  std::string_view field(std::string_view name) const;
};

/// What it gets.
struct http_response {
  unsigned status = 200;
  /// Can be shared by all who get it at the same time: it may be long, and a client slow.
  std::shared_ptr<const std::string> body{};
  std::string type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> fields{};
  bool closes = false;  ///< Nothing more is answered on the connection.

  static http_response text(unsigned status, std::string body) {
    return {status, std::make_shared<const std::string>(std::move(body))};
  }
};

/// Makes the answer to a request. An exception becomes the answer 500, which does not tell strangers what it says; so
/// does what is no answer, such as a 204 with a body.
using http_handler = std::function<boost::asio::awaitable<http_response>(const http_request&)>;

/// The bounds of a server. They have to be above 0.
struct http_limits {
  std::size_t body = 1'000'000;     ///< A longer request is answered with 413.
  std::uint32_t header = 8 * 1024;  ///< A longer one is answered with 431.
  /// For one more the connection is closed that has been without a whole request for longest; if all have one, the one
  /// that has not read its answer for longest; also if the process has no descriptor left. So that there always is one,
  /// this is to be more than the requests that the handler can have in hand.
  std::size_t connections = 1'500;
  /// The bytes of all requests that are being received or answered. For more, those go that have been incomplete for
  /// longest; if there are none, a request is answered with 503.
  std::size_t bodies = 64'000'000;
  std::chrono::milliseconds idle{30'000};  ///< The time for a whole request, and for reading its answer.
  /// While the server closes, an answer that is not read in this time is cut.
  std::chrono::milliseconds last_write{1'000};
};

/// Serves as many connections as the limits allow, with keep-alive: one that is slow keeps nobody out. Garbage
/// is answered with 400. Thread safety: none, the executor has one thread.
class http_server {
 public:
  /// Listens; `start` begins to answer. Port 0: any free one.
  /// \throws boost::system::system_error, which names the address, if it can not be had or is none.
  http_server(const boost::asio::any_io_executor& executor, const std::string& address, std::uint16_t port,
              http_handler handler, http_limits limits = {});
  ~http_server();  ///< Not before `close` has completed, unless the context runs no more.

  std::uint16_t port() const;
  void start();
  /// Accepts no more, closes idle connections, and completes when requests in hand have been answered: when the handler
  /// has ended, and `http_limits::last_write` later at most.
  boost::asio::awaitable<void> close();

 private:
  class listener;
  std::unique_ptr<listener> listener_;
};

}  // namespace zkrecipes::service
