#include "backend/tls/tls_ticket.hpp"

#include <openssl/x509.h>

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

}  // namespace zkrecipes::backend
