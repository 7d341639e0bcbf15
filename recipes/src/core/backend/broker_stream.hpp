// The bytes of a connection to a broker of messages.
#pragma once

#include <cstddef>
#include <functional>

#include <boost/asio/buffer.hpp>

#include <zkrecipes/error.hpp>

#include "backend/endpoint.hpp"

namespace zkrecipes::backend {

/// On the strand. The callbacks must keep this object alive; none comes from inside the call.
class broker_stream {
 public:
  using connected = std::function<void(const error_code&)>;
  using moved = std::function<void(const error_code&, std::size_t)>;

  broker_stream() = default;
  virtual ~broker_stream() = default;
  broker_stream(const broker_stream&) = delete;
  broker_stream& operator=(const broker_stream&) = delete;

  /// Connects to a numeric address, and completes the handshake of TLS if there is one. Errors: `tls_errc`, and those
  /// of the system.
  virtual void connect(const endpoint& broker, connected then) = 0;
  /// One read at a time, and one write. `eof`: the broker has closed the connection.
  virtual void read_some(boost::asio::mutable_buffer to, moved then) = 0;
  /// Writes all of it.
  virtual void write(boost::asio::const_buffer all, moved then) = 0;
  /// Reads and writes under way end with `operation_aborted`.
  virtual void close() = 0;
};

}  // namespace zkrecipes::backend
