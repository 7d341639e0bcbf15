// How a session connects by TLS.
#pragma once

#include <functional>
#include <string>

#include <zkrecipes/error.hpp>

namespace zkrecipes {

/// The error of a `connection_failure` whose reason is `tls`. No operation completes with one of them.
enum class tls_errc {
  // The certificate of the server.
  unknown_authority = 1,  ///< It leads to no authority of `tls_options::authorities`.
  wrong_name,  ///< It is for another name than that in `session_options::hosts` or `tls_options::server_name`.
  expired,
  not_yet_valid,         ///< It begins to be valid later. Is the clock right?
  revoked,               ///< It is on a list of revoked certificates in `tls_options::authorities`.
  unusable_certificate,  ///< It must not be used for this, is malformed, or its key is too weak.

  // Ours. The server has refused the connection.
  certificate_required,  ///< It asks for one, and there is none (`tls_options::certificate`).
  own_authority_unknown,
  own_certificate_expired,
  own_certificate_revoked,
  own_certificate_refused,  ///< For another reason, or the server ended the connection when it had asked for it.

  // The two do not understand each other.
  no_common_version,  ///< The server speaks older versions of TLS only, or newer ones only.
  not_tls,            ///< The server answers in plain text, or ends the connection at once, as a port without TLS does.
  handshake_failed    ///< Any other reason, for example no common cipher.
};

/// The category of `tls_errc`; its name is "zkrecipes.tls".
const boost::system::error_category& tls_error_category() noexcept;

error_code make_error_code(tls_errc value) noexcept;

}  // namespace zkrecipes

template <>
struct boost::system::is_error_code_enum<zkrecipes::tls_errc> : std::true_type {};

namespace zkrecipes {

/// The oldest version of TLS that is spoken.
enum class tls_version { tls1_2, tls1_3 };

/// Settings of secure connections: see docs/tls.md. Each new connection looks whether a file has changed, and then uses
/// its new content; present connections and the ZooKeeper session go on. If the new content is of no use, the old one
/// stays in use, and the log tells `certificates_unusable`. The constructor of `session` reads the files, and throws
/// `std::invalid_argument` if one is of no use. No path contains a NUL byte.
struct tls_options {
  /// The certificates of the authorities to which a server's certificate has to lead: a file in PEM, or a folder with
  /// the names that `openssl rehash` gives. Empty: the authorities of the system. If the file also has lists of revoked
  /// certificates (X509 CRL), each certificate of a server has to be covered by one, and be on none.
  std::string authorities{};
  /// Our certificate, and behind it those that lead to its authority, without that: a file in PEM. Empty: none.
  std::string certificate{};
  /// The private key of the certificate, in PEM. It may be in the same file. Needed with `certificate`, and only then.
  std::string key{};
  /// Returns the password of an encrypted key. Called in the constructor of `session`, and when the key is read again,
  /// then by the session's executor. Unset: an encrypted key is refused. If it throws, the key is of no use.
  std::function<std::string()> key_password{};
  /// The name, or IP address, that the certificate of each server must have. Empty: the name of the server as
  /// `session_options::hosts` has it, or its address if it has that; never the address to which a name leads.
  std::string server_name{};
  tls_version minimum_version = tls_version::tls1_2;
};

}  // namespace zkrecipes
