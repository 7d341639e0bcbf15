// A secure stream with both its ends in this thread: a server that is moved by hand, and the user behind the
// descriptor.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <openssl/ssl.h>
#include <sys/types.h>

#include <boost/asio/io_context.hpp>

#include <testcluster/authority.hpp>

#include "backend/link.hpp"
#include "backend/tls/tls_context.hpp"
#include "backend/tls/tls_stream.hpp"

namespace zkrecipes::test {

/// A server that does nothing by itself, so that it can stop at any byte. OpenSSL works on memory; `take` and `give`
/// carry the bytes between that and the socket. It has one connection at a time.
class manual_server {
 public:
  /// Speaks only this version of TLS, such as TLS1_3_VERSION.
  manual_server(const testcluster::certificate_files& own, int version);
  ~manual_server();
  manual_server(const manual_server&) = delete;
  manual_server& operator=(const manual_server&) = delete;

  backend::endpoint address() const;
  /// Asks each client for a certificate of this authority.
  void require_client(const std::string& authority);
  /// The same, and takes those that have none, too.
  void ask_client(const std::string& authority);
  /// Asks for another hello first, by a HelloRetryRequest of TLS 1.3: it wants a key of a group that clients offer
  /// last.
  void want_another_hello();
  /// Sends records of 512 bytes at most, and tickets that take several of them.
  void use_long_tickets();
  /// Later connections have buffers of about so many bytes on this side.
  void narrow(int bytes);

  /// Takes the next connection, which has to be there or on its way.
  void accept();
  void close();
  /// Ends the connection so that the other side is told of a reset.
  void reset();

  static constexpr std::size_t all = std::string::npos;
  /// From the socket to OpenSSL, as much as has come.
  void take();
  /// OpenSSL gets these bytes, as if the client had sent them.
  void take_instead(std::string_view bytes);
  /// From OpenSSL to the socket, as far as it takes it. The number of bytes that went.
  std::size_t give(std::size_t most = all);
  /// Bytes that OpenSSL has written and that have not gone.
  std::size_t to_give() const noexcept { return outgoing_.size() - gone_; }
  std::size_t given() const noexcept { return given_; }
  /// Whether the other side has ended the connection.
  bool has_seen_end() const noexcept { return has_seen_end_; }

  /// As far as possible. True when it is complete.
  bool shake_hands();
  /// Encrypts. A text of up to 16 KiB is one record.
  void write(std::string_view text);
  /// Puts these bytes behind what OpenSSL has written.
  void write_raw(std::string_view bytes);
  /// All that was taken and is complete, decrypted.
  std::string read();
  /// Changes the key for what is written from now on.
  void update_key(bool ask_for_the_same);
  /// How often the other side has changed its key.
  std::size_t key_updates() const noexcept { return key_updates_; }
  /// Says that nothing more will be written.
  void notify_close();

 private:
  static void on_message(int by_us, int version, int type, const void* bytes, std::size_t size, SSL*, void* self);
  void collect();

  backend::ssl_context_handle context_;
  int listening_;
  int connection_ = -1;
  int buffer_size_ = 0;
  backend::ssl_handle handle_;
  BIO* in_ = nullptr;   // the handle's
  BIO* out_ = nullptr;  // the same
  std::string outgoing_;
  std::size_t gone_ = 0;   // so much of `outgoing_`
  std::size_t given_ = 0;  // in the present connection
  std::size_t key_updates_ = 0;
  bool has_seen_end_ = false;
};

/// The calls by which this process reads and writes one socket, counted, and hindered as a test wants. It sees all
/// calls of `recv` and `send` of this program. One at a time.
class watched_socket {
 public:
  watched_socket();
  ~watched_socket();
  watched_socket(const watched_socket&) = delete;
  watched_socket& operator=(const watched_socket&) = delete;

  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  /// From now on, this one. The counts begin anew.
  void watch(int descriptor);
  int descriptor() const noexcept { return descriptor_; }

  std::size_t reads() const noexcept { return reads_; }  ///< Calls.
  std::size_t bytes_read() const noexcept { return bytes_read_; }
  std::size_t broken_pipes() const noexcept { return broken_pipes_; }  ///< Writes that failed with EPIPE.

  /// How many bytes have come that nobody has read.
  std::size_t waiting() const;
  /// How many bytes the system has taken that it can not send yet.
  std::size_t unsent() const;
  /// Whether the system would take more.
  bool takes_more() const;
  /// From now on the system takes nothing as long as it has something unsent.
  void take_nothing_behind_unsent();

  /// Called after each read.
  std::function<void()> after_read;
  /// The socket takes so many bytes more, and says then that it is full.
  std::size_t room = unlimited;
  /// Each write gets a segment of its own. Otherwise the system adds to the last one, also when it takes no more.
  bool in_segments = false;
  /// The `errno` with which each write fails. 0: the system decides.
  int failure = 0;

  // Called from the calls of the system.
  static watched_socket* of(int descriptor);
  void handle_read(ssize_t result);
  void handle_write(ssize_t result, int number);

 private:
  int descriptor_ = -1;
  std::size_t reads_ = 0;
  std::size_t bytes_read_ = 0;
  std::size_t broken_pipes_ = 0;
};

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
  watched_socket socket;  ///< The socket of the stream.
  std::shared_ptr<backend::tls_stream> stream;

  /// A stream in the place of the present one, which is closed.
  void renew();
  std::shared_ptr<backend::tls_stream> make(asio::io_context& by);

  /// The stream begins to connect, and the server takes the connection.
  void begin();
  /// Begins the stream, and does the handshake.
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
