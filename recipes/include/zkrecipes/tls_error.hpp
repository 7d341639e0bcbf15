// Why a connection by TLS could not be established.
#pragma once

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
  own_certificate_refused,  ///< For another reason, or one that the server does not tell.

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
