// The bytes of a connection to a broker, with TLS or without.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <zkrecipes/error.hpp>

#include "backend/endpoint.hpp"
#include "backend/tls/tls_context.hpp"

namespace zkrecipes::detail {

/// On the strand. The callbacks must keep this object alive.
class redis_socket {
 public:
  using connected = std::function<void(const error_code&)>;
  using moved = std::function<void(const error_code&, std::size_t)>;

  /// Without `secure` the connection is plain text.
  redis_socket(const boost::asio::any_io_executor& strand, std::optional<backend::tls_context::connection> secure);
  redis_socket(const redis_socket&) = delete;
  redis_socket& operator=(const redis_socket&) = delete;

  /// Connects to a numeric address, and completes the handshake. Errors: `tls_errc`, and those of the system.
  void connect(const backend::endpoint& broker, connected then);
  void read_some(boost::asio::mutable_buffer to, moved then);
  void write(boost::asio::const_buffer all, moved then);
  /// Reads and writes under way end with `operation_aborted`.
  void close();

 private:
  using tcp = boost::asio::ip::tcp;

  error_code open(const tcp& protocol);
  void shake_hands(connected then);

  std::shared_ptr<backend::tls_ticket> ticket_;  // outlives the stream, which points to it
  bool has_certificate_ = false;
  tcp::socket plain_;
  std::optional<boost::asio::ssl::stream<tcp::socket&>> secure_;
};

}  // namespace zkrecipes::detail
