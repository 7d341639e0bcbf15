#include "backend/tls/tls_reason.hpp"

#include <openssl/err.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

namespace zkrecipes::backend {

namespace asio = boost::asio;

namespace {

tls_errc reason_of_certificate(long verdict) {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED: return tls_errc::expired;
    case X509_V_ERR_CERT_NOT_YET_VALID: return tls_errc::not_yet_valid;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return tls_errc::wrong_name;
    case X509_V_ERR_CERT_REVOKED: return tls_errc::revoked;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_CERT_UNTRUSTED:
    case X509_V_ERR_INVALID_CA: return tls_errc::unknown_authority;
    default: return tls_errc::unusable_certificate;
  }
}

/// The reasons of OpenSSL, most of which are alerts of the server.
tls_errc reason_of_handshake(int reason, bool has_certificate) {
  switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_TLSV1_ALERT_INAPPROPRIATE_FALLBACK: return tls_errc::no_common_version;
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_UNEXPECTED_RECORD:
    case SSL_R_UNEXPECTED_EOF_WHILE_READING: return tls_errc::not_tls;
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return tls_errc::certificate_required;
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA: return tls_errc::own_authority_unknown;
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED: return tls_errc::own_certificate_expired;
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED: return tls_errc::own_certificate_revoked;
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:  // so a server with TLS 1.2 answers to none
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      return has_certificate ? tls_errc::own_certificate_refused : tls_errc::certificate_required;
    default: return tls_errc::handshake_failed;
  }
}

bool is_end_of_stream(const error_code& failure) {
  return failure == asio::error::eof || failure == asio::ssl::error::stream_truncated ||
         failure == asio::error::connection_reset || failure == asio::error::broken_pipe;
}

}  // namespace

error_code tls_reason(const error_code& failure, const SSL* connection, bool has_certificate) {
  const bool is_established = SSL_is_init_finished(connection) == 1;
  if (is_end_of_stream(failure))
    return is_established ? make_error_code(errc::connection_loss) : make_error_code(tls_errc::not_tls);
  if (failure.category() != asio::error::get_ssl_category()) return failure;
  // A signature by another key is told as an error of the part of OpenSSL that compared it, such as RSA's padding.
  if (const auto verdict = SSL_get_verify_result(connection); verdict != X509_V_OK && !is_established)
    return reason_of_certificate(verdict);
  const auto code = static_cast<unsigned long>(failure.value());
  return reason_of_handshake(ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0, has_certificate);
}

}  // namespace zkrecipes::backend
