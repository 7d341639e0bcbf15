// One secure connection to a server, and the relay between it and a socket of this process.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <zkrecipes/error.hpp>

#include "backend/descriptors.hpp"
#include "backend/link.hpp"
#include "backend/tls/tls_context.hpp"

namespace zkrecipes::backend {

/// The socket below a TLS connection, as OpenSSL reads and writes it.
/// OpenSSL's own BIO of a socket raises the signal SIGPIPE when the server has gone, and reads as long as more comes.
class tls_transport {
 public:
  tls_transport() = default;
  tls_transport(const tls_transport&) = delete;
  tls_transport& operator=(const tls_transport&) = delete;

  /// From now on the connection uses this socket, and this object, which has to outlive both.
  /// \throws std::bad_alloc.
  void carry(SSL* connection, int socket);

  /// To be called before a call of OpenSSL that reads. The call then wants to read again after so many reads, although
  /// more may have come: a server that sends without a pause must not keep the executor.
  void allow_reads() noexcept { reads_left_ = most_reads; }
  /// To be called before a call of OpenSSL that must not take what has come from the socket.
  void forbid_reads() noexcept { reads_left_ = 0; }

  /// The `errno` of the read that failed, 0: it found the end.
  int failure() const noexcept { return failure_; }

 private:
  static constexpr int most_reads = 16;

  static const BIO_METHOD* method();
  static int read(BIO* by, char* to, int size);
  static int write(BIO* by, const char* from, int size);
  static long control(BIO* by, int command, long, void*);

  int socket_ = -1;
  int reads_left_ = 0;
  int failure_ = 0;
};

/// On the strand. Its handlers own it, until `close`.
class tls_stream : public std::enable_shared_from_this<tls_stream> {
 public:
  using handler = std::function<void(error_code)>;

  tls_stream(const boost::asio::any_io_executor& strand, tls_context::connection with);
  tls_stream(const tls_stream&) = delete;
  tls_stream& operator=(const tls_stream&) = delete;

  /// Connects, and completes the handshake, in which the server is verified. `then` gets a `tls_errc`, an error of the
  /// system that says why there is no connection, `no_descriptors` or `connection_loss`. It is not called after
  /// `close`.
  void connect(const endpoint& server, handler then);

  /// From now on, passes on what comes from the server to `descriptor`, and calls `arrived` each time. The end of the
  /// connection is shown in the same way, behind everything that came before. Takes the descriptor, a Unix stream
  /// socket that does not block.
  void relay(int descriptor, std::function<void()> arrived);

  /// Sends what has been written to the other side of the descriptor. To be called after each write: nobody waits for
  /// the descriptor, which would take a turn of the event loop for each request.
  void forward();

  /// Why the server's side has ended, clear before that. A `tls_errc` if the server has refused the connection after
  /// the handshake, which it does for our certificate in TLS 1.3.
  error_code ended() const noexcept { return ended_; }

  /// Drops the connection.
  void close();

 private:
  using tcp = boost::asio::ip::tcp;
  using local = boost::asio::local::stream_protocol;

  /// A call of OpenSSL that has not done everything: it has failed, or has to be made again when the socket is ready.
  struct unfinished {
    error_code failure;
    tcp::socket::wait_type until = tcp::socket::wait_read;
  };

  SSL* connection() const noexcept { return handle_.get(); }
  void shake_hands();
  void finish(const error_code& failure);
  unfinished left_by(int rc) const;
  void when_ready(tcp::socket::wait_type what, void (tls_stream::*then)());
  void go_on(void (tls_stream::*then)());
  void read();
  std::size_t decrypt();
  bool pass_on(std::size_t from, std::size_t to);
  bool encrypt();
  void send_on();
  void end(const error_code& failure);

  home_process home_;
  std::shared_ptr<tls_ticket> ticket_;  // outlives the handle, which points to it
  tcp::socket server_;
  tls_transport transport_;  // outlives the handle, too
  ssl_handle handle_;
  local::socket inside_;
  handler then_;
  std::function<void()> arrived_;
  error_code ended_;
  bool closed_ = false;
  bool has_received_ = false;
  bool sends_behind_read_ = false;
  unfinished reading_;
  std::vector<char> received_;
  std::vector<char> to_send_;
  std::size_t sending_ = 0;  // so much of `to_send_` the socket has not taken yet
};

}  // namespace zkrecipes::backend
