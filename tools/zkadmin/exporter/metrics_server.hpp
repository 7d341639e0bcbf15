// Serves one text over HTTP/1.1.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "settings/settings.hpp"

namespace zkadmin {

/// `GET /metrics` gives the text, `GET /` says so. A connection is closed after its answer; a client that takes too
/// long, or sends too much, is cut off. Answers share the text. For an executor of one thread.
class metrics_server : public std::enable_shared_from_this<metrics_server> {
 public:
  /// The number of connections at a time. For a further one the oldest is closed that has not asked yet, or, if all
  /// have, the oldest: clients that are slow keep nobody out.
  static constexpr std::size_t most_connections = 32;
  /// A connection that lasts longer is closed.
  static constexpr auto longest_conversation = std::chrono::seconds(10);

  /// Listens at once. Throws `failure` if that is not possible, or if the host is no IP address.
  metrics_server(const boost::asio::any_io_executor& executor, const endpoint& where);

  /// The address, with the port that was chosen if it was to be any.
  endpoint where() const;

  /// The text to serve from now on.
  void set(std::string text);

  /// Accepts connections until `stop`.
  boost::asio::awaitable<void> serve();
  void stop();

 private:
  struct client {
    boost::beast::tcp_stream stream;
    bool has_asked = false;
  };
  using shared_client = std::shared_ptr<client>;

  void make_room();
  boost::asio::awaitable<void> talk(shared_client with);
  boost::asio::awaitable<void> converse(client& with, std::shared_ptr<const std::string> metrics);

  boost::asio::ip::tcp::acceptor acceptor_;
  std::string host_;  ///< As given, for `where`.
  std::shared_ptr<const std::string> text_;
  std::list<shared_client> clients_;  // the oldest first
};

}  // namespace zkadmin
