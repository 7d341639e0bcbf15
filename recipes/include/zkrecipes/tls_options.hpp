// How a session connects by TLS.
#pragma once

#include <functional>
#include <string>

#include <zkrecipes/detail/requirements.hpp>

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
