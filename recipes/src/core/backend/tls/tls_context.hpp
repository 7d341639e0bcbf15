// The secure connections of one session: what its files hold, and what its servers have given us.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <openssl/ssl.h>

#include <zkrecipes/tls_options.hpp>

namespace zkrecipes::backend {

// Objects of OpenSSL with an owner.

struct tls_deleter {
  void operator()(SSL_CTX* what) const noexcept { SSL_CTX_free(what); }
  void operator()(SSL* what) const noexcept { SSL_free(what); }
  void operator()(SSL_SESSION* what) const noexcept { SSL_SESSION_free(what); }
};

using ssl_context_handle = std::unique_ptr<SSL_CTX, tls_deleter>;
using ssl_handle = std::unique_ptr<SSL, tls_deleter>;
using ssl_session_handle = std::unique_ptr<SSL_SESSION, tls_deleter>;

/// Connections of this context remember that the server has asked for a certificate. `tls_reason` needs it.
void record_certificate_requests(SSL_CTX* context);

/// Why a connection failed: a `tls_errc`, if TLS was the reason. `is_accepted`: the server has sent data, so it had
/// taken our certificate, or did without one.
error_code tls_reason(const error_code& failure, const SSL* connection, bool is_accepted = false);

// The files of `tls_options`, and OpenSSL's form of what they hold.

/// Reads the files. \throws std::invalid_argument that names the field and the file. The message never holds what
/// stands in a file.
ssl_context_handle load_tls_files(const tls_options& options);

/// Reading a FIFO again, or a device, could stop the executor for ever. \throws as `load_tls_files` does.
void require_files(const tls_options& options);

/// What tells that a file has changed. Equal for files that could not be looked at.
struct file_stamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t written = 0;  ///< Nanoseconds.
  std::int64_t changed = 0;  ///< Nanoseconds, when the inode was changed.
  friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

/// The stamps of all files of `options`, in a fixed order.
std::vector<file_stamp> tls_file_stamps(const tls_options& options);

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
