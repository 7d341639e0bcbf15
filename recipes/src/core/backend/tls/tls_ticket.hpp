#pragma once

#include "backend/tls/tls_handles.hpp"

namespace zkrecipes::backend {

/// What one server has given us to take a session of TLS up again, which saves a round trip (TLS 1.2) and the work of a
/// full handshake. It has nothing to do with the ZooKeeper session.
class tls_ticket {
 public:
  /// Offers what is kept to the server, and keeps what the server gives us. `connection` must not outlive this.
  void use_for(SSL* connection);
  /// To be called when a handshake has failed, or has not ended, or nothing has come behind it.
  void forget() noexcept { kept_.reset(); }

  /// For the context of each connection.
  static void watch(SSL_CTX* context);

 private:
  static int on_new_session(SSL* connection, SSL_SESSION* given);
  bool is_stale() const;

  ssl_session_handle kept_;
};

}  // namespace zkrecipes::backend
