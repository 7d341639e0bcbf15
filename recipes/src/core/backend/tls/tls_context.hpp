// The secure connections of one session: what its files hold, and what its servers have given us.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/tls_options.hpp>

#include "backend/tls/tls_files.hpp"
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

class tls_context {
 public:
  /// \throws std::invalid_argument that names the field of `session_options`.
  explicit tls_context(tls_options options);

  enum class change { none, reloaded, unusable };
  /// Reads the files again if one has changed. If that is of no use everything stays as it is, and `problem` says why.
  change refresh(std::string& problem);

  struct connection {
    std::shared_ptr<tls_ticket> ticket;  ///< Has to outlive the handle.
    ssl_handle handle;
  };
  /// A new connection to a server that has one of these names for us: host names, or one address.
  /// \throws std::bad_alloc.
  connection make(const std::string& server, const std::vector<std::string>& names);

 private:
  void load();
  void expect_name(SSL* to, const std::vector<std::string>& names) const;

  tls_options options_;
  std::vector<file_stamp> stamps_;
  ssl_context_handle context_;
  std::map<std::string, std::shared_ptr<tls_ticket>> tickets_;  // by server
};

}  // namespace zkrecipes::backend
