#include "backend/tls/tls_reason.hpp"

#include <openssl/err.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include "backend/worded_errors.hpp"

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
tls_errc reason_of_handshake(int reason) {
  switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_TLSV1_ALERT_INAPPROPRIATE_FALLBACK: return tls_errc::no_common_version;
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_UNEXPECTED_RECORD: return tls_errc::not_tls;
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return tls_errc::certificate_required;
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA: return tls_errc::own_authority_unknown;
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED: return tls_errc::own_certificate_expired;
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED: return tls_errc::own_certificate_revoked;
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED: return tls_errc::own_certificate_refused;
    default: return tls_errc::handshake_failed;
  }
}

/// The place in a connection that tells whether the server has asked for a certificate.
int place_of_request() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

/// What we know ourselves of a handshake that the server has ended. How it does so, by which alert or by none, depends
/// on its TLS library and its version.
tls_errc reason_by_our_side(const SSL* connection, tls_errc by_server) {
  if (SSL_get_ex_data(connection, place_of_request())) {  // it has asked for a certificate
    const auto* ours = SSL_get_certificate(connection);
    if (!ours) return tls_errc::certificate_required;
    if (X509_cmp_current_time(X509_get0_notAfter(ours)) < 0) return tls_errc::own_certificate_expired;
    const bool is_untold = by_server == tls_errc::handshake_failed || by_server == tls_errc::not_tls;
    return is_untold ? tls_errc::own_certificate_refused : by_server;
  }
  // The state of a handshake tells it less well: behind a request to say hello once more it is as at the beginning.
  const bool has_answered = BIO_number_read(SSL_get_rbio(connection)) > SSL3_RT_HEADER_LENGTH;
  return by_server == tls_errc::not_tls && has_answered ? tls_errc::handshake_failed : by_server;
}

/// The reason of OpenSSL; 0: it has none.
int reason_in(const error_code& failure) {
  if (failure.category() != asio::error::get_ssl_category()) return 0;
  const auto code = static_cast<unsigned long>(failure.value());
  return ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
}

bool is_end_of_stream(const error_code& failure) {
  return reason_in(failure) == SSL_R_UNEXPECTED_EOF_WHILE_READING || failure == asio::error::eof ||
         failure == asio::ssl::error::stream_truncated || failure == asio::error::connection_reset ||
         failure == asio::error::broken_pipe;
}

}  // namespace

void record_certificate_requests(SSL_CTX* context) {
  constexpr auto record = [](SSL* connection, void*) {
    SSL_set_ex_data(connection, place_of_request(), connection);
    return 1;
  };
  SSL_CTX_set_cert_cb(context, record, nullptr);
}

error_code tls_reason(const error_code& failure, const SSL* connection, bool is_accepted) {
  const bool is_established = SSL_is_init_finished(connection) == 1;
  if (is_end_of_stream(failure)) {
    return is_established ? connection_lost() : make_error_code(reason_by_our_side(connection, tls_errc::not_tls));
  }
  if (failure.category() != asio::error::get_ssl_category()) return failure;
  // A signature by another key is told as an error of the part of OpenSSL that compared it, such as RSA's padding.
  if (const auto verdict = SSL_get_verify_result(connection); verdict != X509_V_OK && !is_established)
    return reason_of_certificate(verdict);
  const bool is_alert = reason_in(failure) >= SSL_AD_REASON_OFFSET;
  const auto by_server = reason_of_handshake(reason_in(failure));
  return is_alert && !is_accepted ? reason_by_our_side(connection, by_server) : by_server;
}

}  // namespace zkrecipes::backend
