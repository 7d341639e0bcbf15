// The bytes of a connection to a broker over TCP, with TLS or without.
#pragma once

#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "backend/descriptors.hpp"
#include "backend/tls/tls_context.hpp"
#include "backend/world.hpp"

namespace zkrecipes::backend {

class broker_socket final : public broker_stream {
 public:
  /// Without `secure` the connection is plain text.
  broker_socket(const boost::asio::any_io_executor& strand, std::optional<tls_context::connection> secure);

  void connect(const endpoint& broker, connected then) override;
  void read_some(boost::asio::mutable_buffer to, moved then) override;
  void write(boost::asio::const_buffer all, moved then) override;
  void close() override;

 private:
  using tcp = boost::asio::ip::tcp;

  error_code open(const tcp& protocol);
  void shake_hands(connected then);

  home_process home_;
  std::shared_ptr<tls_ticket> ticket_;  // outlives the stream, which points to it
  tcp::socket plain_;
  std::optional<boost::asio::ssl::stream<tcp::socket&>> secure_;
};

}  // namespace zkrecipes::backend
