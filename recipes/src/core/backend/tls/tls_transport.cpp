#include "backend/tls/tls_transport.hpp"

#include <cerrno>
#include <new>

#include <openssl/bio.h>
#include <sys/socket.h>

namespace zkrecipes::backend {

namespace {

tls_transport& transport_of(BIO* by) { return *static_cast<tls_transport*>(BIO_get_data(by)); }

}  // namespace

void tls_transport::carry(SSL* connection, int socket) {
  const auto* how = method();
  BIO* bio = how ? BIO_new(how) : nullptr;
  if (!bio) throw std::bad_alloc();
  socket_ = socket;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(connection, bio, bio);
}

/// Never freed, because a session that is static may end behind everything that was made after it.
const BIO_METHOD* tls_transport::method() {
  static const BIO_METHOD* const only = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (!made) return made;
    BIO_meth_set_read(made, &read);
    BIO_meth_set_write(made, &write);
    BIO_meth_set_ctrl(made, &control);
    return made;
  }();
  return only;
}

int tls_transport::read(BIO* by, char* to, int size) {
  auto& self = transport_of(by);
  BIO_clear_retry_flags(by);
  const bool may_read = self.reads_left_-- > 0;
  const auto received = may_read ? ::recv(self.socket_, to, static_cast<std::size_t>(size), MSG_DONTWAIT) : -1;
  if (received > 0) return static_cast<int>(received);
  if (!may_read || (received < 0 && (errno == EAGAIN || errno == EINTR))) {
    BIO_set_retry_read(by);
    return -1;
  }
  self.failure_ = received < 0 ? errno : 0;
  return static_cast<int>(received);
}

/// A connection that can not be written any more may still have an alert to be read, which says why. So only the next
/// read, behind the alert, finds the end.
int tls_transport::write(BIO* by, const char* from, int size) {
  auto& self = transport_of(by);
  BIO_clear_retry_flags(by);
  const auto sent = ::send(self.socket_, from, static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return static_cast<int>(sent);
  if (errno == EAGAIN || errno == EINTR) {
    BIO_set_retry_write(by);
    return -1;
  }
  ::shutdown(self.socket_, SHUT_RDWR);
  return size;
}

long tls_transport::control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

}  // namespace zkrecipes::backend
