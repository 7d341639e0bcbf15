// A secure stream with both its ends in this thread: a server that is moved by hand, and the user behind the
// descriptor.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "backend/tls/tls_context.hpp"
#include "backend/tls/tls_stream.hpp"
#include "tls/manual_server.hpp"
#include "tls/watched_socket.hpp"

namespace zkrecipes::test {

namespace asio = boost::asio;

/// For cases that are the same in both.
inline constexpr int all_tls_versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

/// Bytes of which no part is like another.
std::string long_text(std::size_t size);

/// The authority that the streams trust.
std::string stream_authority();

class stream_case {
 public:
  explicit stream_case(int version = TLS1_3_VERSION);
  ~stream_case();
  stream_case(const stream_case&) = delete;
  stream_case& operator=(const stream_case&) = delete;

  asio::io_context io;
  manual_server server;
  watched_socket socket;  ///< That of the stream.
  std::shared_ptr<backend::tls_stream> stream;

  /// A stream in the place of the present one, which is closed.
  void renew();
  std::shared_ptr<backend::tls_stream> make(asio::io_context& by);

  /// The stream begins to connect, and the server takes the connection.
  void begin();
  /// The same, and the handshake.
  void establish();
  /// Gives the stream one end of a pair of sockets; the other one is the user's.
  void hand_over();
  /// The same, and the stream reads all that the server has given.
  void relay();
  /// All of this.
  void open();
  /// The same with buffers of a few KiB everywhere.
  void open_narrow();

  std::size_t connects = 0;  ///< Calls of the handler of `connect`.
  error_code connected;      ///< What the last one got.

  // The user's side. It reads in `arrived`.
  int user = -1;
  bool is_reading = true;
  std::size_t arrivals = 0;
  std::string arrived;
  bool has_user_seen_end = false;
  std::function<void()> on_arrival;  ///< After the user has read.
  /// Reads what is there.
  void user_reads();
  /// As much as the socket takes, by a call that raises SIGPIPE. The number of bytes.
  std::size_t user_writes(std::string_view text);
  /// Writes until neither the stream nor the server's socket takes more. The number of bytes.
  std::size_t user_fills(std::string_view text);
  void close_user();

  // Turns of the event loop: handlers.
  std::size_t turns = 0;
  std::function<void()> before_turn;  ///< Also before the stream is called directly.
  /// Runs single turns until the condition holds. False if it does not in time.
  bool until(const std::function<bool()>& condition);
  /// Looks at the event loop a hundred times. True if that has found nothing to do, but for the system's notices of
  /// sockets, each of which Asio counts as a turn.
  bool is_quiet();

  /// Turns until the stream has ended, and everything that came before is read.
  void await_end();

 private:
  std::optional<int> buffer_size_;
  void (*signal_before_)(int);
  backend::tls_context context_;
};

}  // namespace zkrecipes::test
