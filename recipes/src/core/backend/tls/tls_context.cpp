#include "backend/tls/tls_context.hpp"

#include <algorithm>
#include <cctype>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>

#include "backend/tls/tls_reason.hpp"

namespace zkrecipes::backend {

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
