// The socket below a TLS connection, as OpenSSL reads and writes it.
#pragma once

#include "backend/tls/tls_handles.hpp"

namespace zkrecipes::backend {

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

}  // namespace zkrecipes::backend
