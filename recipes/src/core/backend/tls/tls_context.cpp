#include "backend/tls/tls_context.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
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

namespace {

std::string text_of(unsigned long code) {
  const char* text = ERR_SYSTEM_ERROR(code) ? std::strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
  return text ? text : "OpenSSL does not tell why";
}

/// The cause of what failed, in OpenSSL's words, which name functions and formats, never contents. Behind the cause
/// stand errors such as "PEM lib": that another part of OpenSSL has failed.
std::string openssl_problem() {
  const auto first = ERR_peek_error();
  while (const auto code = ERR_get_error()) {
    if (ERR_SYSTEM_ERROR(code) || !(ERR_GET_REASON(code) & ERR_RFLAG_COMMON)) return text_of(code);
  }
  return text_of(first);
}

[[noreturn]] void refuse_file(const char* field, const std::string& path, const std::string& problem) {
  ERR_clear_error();
  throw std::invalid_argument("session_options::tls." + std::string(field) + ": " + path + ": " + problem);
}

/// Called by OpenSSL. Without it OpenSSL would ask at the terminal.
int give_password(char* to, int size, int, void* context) noexcept {
  const auto& ask = *static_cast<const std::function<std::string()>*>(context);
  if (!ask) return -1;
  try {
    auto password = ask();
    const int length = password.size() > static_cast<std::size_t>(size) ? -1 : static_cast<int>(password.size());
    if (length > 0) std::memcpy(to, password.data(), password.size());
    OPENSSL_cleanse(password.data(), password.size());
    return length;
  } catch (...) {
    return -1;
  }
}

/// Lists of revoked certificates count if there are any. In a folder OpenSSL looks for them only when it needs them.
/// With lists no session of TLS is taken up again, because OpenSSL does not look at a certificate then.
void heed_revocations(SSL_CTX* context) {
  auto* store = SSL_CTX_get_cert_store(context);
  const auto* objects = X509_STORE_get0_objects(store);
  for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
    if (X509_OBJECT_get_type(sk_X509_OBJECT_value(objects, i)) != X509_LU_CRL) continue;
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);  // also of intermediate authorities
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    return;
  }
}

void load_authorities(SSL_CTX* to, const std::string& path) {
  if (path.empty()) {
    SSL_CTX_set_default_verify_paths(to);
    return;
  }
  std::error_code unknown;
  const bool is_folder = std::filesystem::is_directory(path, unknown);
  const int done = is_folder ? SSL_CTX_load_verify_dir(to, path.c_str()) : SSL_CTX_load_verify_file(to, path.c_str());
  if (done != 1) refuse_file("authorities", path, openssl_problem());
  heed_revocations(to);
}

void load_certificate(SSL_CTX* to, const tls_options& options) {
  SSL_CTX_set_default_passwd_cb(to, &give_password);
  SSL_CTX_set_default_passwd_cb_userdata(to, const_cast<std::function<std::string()>*>(&options.key_password));
  if (SSL_CTX_use_certificate_chain_file(to, options.certificate.c_str()) != 1)
    refuse_file("certificate", options.certificate, openssl_problem());
  const int done = SSL_CTX_use_PrivateKey_file(to, options.key.c_str(), SSL_FILETYPE_PEM);
  SSL_CTX_set_default_passwd_cb_userdata(to, nullptr);
  SSL_CTX_set_default_passwd_cb(to, nullptr);
  // OpenSSL itself compares them only if both are of one kind, such as RSA.
  if (done != 1 || SSL_CTX_check_private_key(to) != 1) refuse_file("key", options.key, openssl_problem());
}

using named_path = std::pair<const char*, const std::string*>;

/// The paths of the files that the options name, by the names of their fields.
std::array<named_path, 3> files_of(const tls_options& options) {
  return {
      named_path{"authorities", &options.authorities}, {"certificate", &options.certificate}, {"key", &options.key}};
}

/// Refuses files that every user of the machine may write: they decide whom we trust and who we are.
void refuse_what_everybody_may_change(const tls_options& options) {
  for (const auto& [field, path] : files_of(options)) {
    struct ::stat seen {};
    if (path->empty() || ::stat(path->c_str(), &seen) != 0) continue;
    const bool is_kept = S_ISREG(seen.st_mode) || S_ISDIR(seen.st_mode);
    if (is_kept && (seen.st_mode & S_IWOTH)) refuse_file(field, *path, "everybody may change it; chmod o-w mends that");
  }
}

}  // namespace

ssl_context_handle load_tls_files(const tls_options& options) {
  refuse_what_everybody_may_change(options);
  ERR_clear_error();
  ssl_context_handle context(SSL_CTX_new(TLS_client_method()));
  if (!context) throw std::bad_alloc();
  const bool is_new = options.minimum_version == tls_version::tls1_3;
  SSL_CTX_set_min_proto_version(context.get(), is_new ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  load_authorities(context.get(), options.authorities);
  if (!options.certificate.empty()) load_certificate(context.get(), options);
  ERR_clear_error();
  return context;
}

void require_files(const tls_options& options) {
  for (const auto& [field, path] : files_of(options)) {
    struct ::stat seen {};
    if (path->empty() || ::stat(path->c_str(), &seen) != 0) continue;
    if (!S_ISREG(seen.st_mode) && !S_ISDIR(seen.st_mode))
      refuse_file(field, *path, "it has become something else than a file");
  }
}

std::vector<file_stamp> tls_file_stamps(const tls_options& options) {
  std::vector<file_stamp> stamps;
  const auto nanoseconds = [](const timespec& when) { return when.tv_sec * 1'000'000'000 + when.tv_nsec; };
  for (const auto& [field, path] : files_of(options)) {
    auto& stamp = stamps.emplace_back();
    struct ::stat seen {};
    if (path->empty() || ::stat(path->c_str(), &seen) != 0) continue;
    stamp = {seen.st_dev, seen.st_ino, seen.st_size, nanoseconds(seen.st_mtim), nanoseconds(seen.st_ctim)};
  }
  return stamps;
}

namespace {

/// The place of the ticket in a connection.
int place() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

}  // namespace

void tls_ticket::watch(SSL_CTX* context) { SSL_CTX_sess_set_new_cb(context, &on_new_session); }

void tls_ticket::use_for(SSL* connection) {
  SSL_set_ex_data(connection, place(), this);
  if (is_stale()) forget();
  if (kept_) SSL_set_session(connection, kept_.get());
}

/// OpenSSL does not look at the certificate of a session that is taken up again.
bool tls_ticket::is_stale() const {
  const X509* certificate = kept_ ? SSL_SESSION_get0_peer(kept_.get()) : nullptr;
  return certificate && X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0;
}

int tls_ticket::on_new_session(SSL* connection, SSL_SESSION* given) {
  auto* self = static_cast<tls_ticket*>(SSL_get_ex_data(connection, place()));
  if (!self || SSL_SESSION_is_resumable(given) != 1) return 0;
  self->kept_.reset(given);
  return 1;  // it is ours now
}

namespace {

/// Addresses can change with every look-up of a name.
constexpr std::size_t most_tickets = 256;

bool is_address(const std::string& name) {
  boost::system::error_code not_numeric;
  boost::asio::ip::make_address(name, not_numeric);
  return !not_numeric;
}

/// Certificates have names without the dot that makes a host name absolute.
std::string without_last_dot(std::string name) {
  if (name.size() > 1 && name.back() == '.') name.pop_back();
  return name;
}

/// "fe80::1" of "fe80::1%eth0".
std::string without_zone(const std::string& address) { return address.substr(0, address.find('%')); }

/// OpenSSL would take a name that begins with a dot for all names that end so, and servers refuse what is no name in
/// the handshake, without telling why.
bool is_name(const std::string& name) {
  static constexpr std::string_view signs = "-_.:%";  // the last two: of addresses
  const auto is_good = [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || signs.find(static_cast<char>(c)) != signs.npos);
  };
  return !name.starts_with('.') && std::all_of(name.begin(), name.end(), is_good);
}

void check(const tls_options& options) {
  for (const auto* each : {&options.authorities, &options.certificate, &options.key, &options.server_name}) {
    if (each->find('\0') != each->npos)
      throw std::invalid_argument("session_options::tls: a NUL byte in a path or name");
  }
  if (!is_name(options.server_name)) {
    throw std::invalid_argument(
        "session_options::tls: server_name is neither a host name nor an address; an international name has the form "
        "xn--...");
  }
  if (options.certificate.empty() != options.key.empty())
    throw std::invalid_argument("session_options::tls: certificate and key need each other");
}

}  // namespace

tls_context::tls_context(tls_options options) : options_(std::move(options)) {
  check(options_);
  load();
}

/// The stamps are older than what is read. So a change in between is noticed the next time.
void tls_context::load() {
  auto stamps = tls_file_stamps(options_);
  context_ = load_tls_files(options_);
  tls_ticket::watch(context_.get());
  record_certificate_requests(context_.get());
  stamps_ = std::move(stamps);
  tickets_.clear();
}

tls_context::change tls_context::refresh(std::string& problem) {
  if (tls_file_stamps(options_) == stamps_) return change::none;
  try {
    require_files(options_);
    load();
    return change::reloaded;
  } catch (const std::exception& why) {
    problem = why.what();
    tickets_.clear();  // a list of revoked certificates may be among what could not be read
    return change::unusable;
  }
}

tls_context::connection tls_context::make(const std::string& server, const std::vector<std::string>& names) {
  if (tickets_.size() >= most_tickets) tickets_.clear();
  // With the names, because a name can come to lead to an address that was verified for another.
  std::string verified_as = server;
  for (const auto& each : names) verified_as += ' ' + each;
  auto& ticket = tickets_[verified_as];
  if (!ticket) ticket = std::make_shared<tls_ticket>();
  connection made{ticket, ssl_handle(SSL_new(context_.get()))};
  if (!made.handle) throw std::bad_alloc();
  expect_name(made.handle.get(), options_.server_name.empty() ? names : std::vector{options_.server_name});
  ticket->use_for(made.handle.get());
  return made;
}

/// A server whose name and address are both in the list of hosts is expected to have the name. The common name of a
/// certificate is no host name (RFC 9525): authorities give free ones to clients, such as "billing" or "zk1".
void tls_context::expect_name(SSL* to, const std::vector<std::string>& names) const {
  auto* expected = SSL_get0_param(to);
  X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  bool has_name = false;
  for (const auto& each : names) {
    if (is_address(each)) continue;
    const auto name = without_last_dot(each);
    if (X509_VERIFY_PARAM_add1_host(expected, name.c_str(), name.size()) != 1) throw std::bad_alloc();
    if (!std::exchange(has_name, true)) SSL_set_tlsext_host_name(to, name.c_str());
  }
  if (has_name) return;
  // Without a name a certificate of anybody would do, so there always is one to compare.
  const std::string address = names.empty() ? "0.0.0.0" : without_zone(names.front());
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, address.c_str()) != 1) throw std::bad_alloc();
}

}  // namespace zkrecipes::backend
