// The seam: the narrow interface between the library and the outside world, which is one connection to one server,
// time, timers, random numbers, name resolution, the guardian of the machine, and brokers of messages.
//
// Nothing above this interface includes a ZooKeeper header, reads a clock, draws a random number or touches a socket.
// The real world is in zookeeper/; the tests have a simulated one. Every function is called on the session's strand,
// and calls back on the strand, never from inside the call. The clocks are read on any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/buffer.hpp>

#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>

#include "backend/guardian/guardian_message.hpp"
#include "backend/link.hpp"

namespace zkrecipes::backend {

/// The bytes of a connection to a broker of messages.
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

using timer_id = std::uint64_t;
using resolve_handler = std::function<void(std::vector<resolved_name>)>;

class world {
 public:
  virtual ~world() = default;

  virtual lease_clock::time_point now() = 0;
  /// A clock that is read in a tenth of the time. It can lag behind by some milliseconds, has a zero of its own, and
  /// may stand still while the machine is suspended.
  virtual lease_clock::time_point rough_now() { return now(); }
  /// For display only.
  virtual std::chrono::system_clock::time_point wall_clock() = 0;
  virtual std::uint64_t random() = 0;
  virtual timer_id call_at(lease_clock::time_point when, std::function<void()> what) = 0;
  virtual void cancel(timer_id id) = 0;

  /// Resolves names to numeric addresses, side by side. The handler gets one entry for each name, in the same order,
  /// when all have an answer, and after 1.5 s in any case.
  virtual void resolve(std::vector<endpoint> names, resolve_handler handler) = 0;
  /// Drops all lookups under way, with their handlers.
  virtual void abandon_lookups() {}

  /// Begins to connect. `listener` must outlive the link.
  virtual std::unique_ptr<link> connect(link_options options, link_listener& listener) = 0;

  /// Begins to connect to the guardian that listens at this path. `listener` must outlive the line. Null: there can be
  /// no guardian in this world.
  virtual std::unique_ptr<guardian_line> call_guardian(const std::string& path, guardian_listener& listener) {
    static_cast<void>(path), static_cast<void>(listener);
    return nullptr;
  }

  /// A stream to a broker of messages, not connected yet. `name`: as the user wrote it; the certificate has to have it.
  /// Without `tls` the stream is plain text. Null: there can be no broker in this world.
  virtual std::unique_ptr<broker_stream> open_broker(const endpoint& broker, const std::string& name,
                                                     const std::shared_ptr<tls_context>& tls) {
    static_cast<void>(broker), static_cast<void>(name), static_cast<void>(tls);
    return nullptr;
  }
};

}  // namespace zkrecipes::backend
