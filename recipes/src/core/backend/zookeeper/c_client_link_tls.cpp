// How a connection is put on TLS: the secure connection first, and then the C client behind it.
#include <cerrno>
#include <new>
#include <utility>

#include "backend/tls/tls_stream.hpp"
#include "backend/zookeeper/c_client_link.hpp"
#include "backend/zookeeper/descriptors.hpp"
#include "backend/zookeeper/stand_in.hpp"

namespace zkrecipes::backend {

namespace {

/// Why the C client has got no address, or could not begin to connect to it. Without a loopback interface either fails:
/// the second if the interface has never been up.
error_code reason_of(int number) {
  if (number == ENETUNREACH) number = EADDRNOTAVAIL;
  const auto known = connect_error(number);
  return known ? known : make_error_code(errc::connection_loss);
}

}  // namespace

/// The C client sends the password of the session as soon as it believes that it is connected. So it does not exist
/// before the server has been verified.
void c_client_link::secure(const link_options& options) {
  tls_ = std::make_shared<tls_stream>(strand_, options.tls->make(to_string(options.server), options.names));
  tls_->connect(options.server, [weak = weak_from_this(), options](const error_code& why) {
    const auto self = weak.lock();
    if (!self || !self->listener_) return;
    why ? self->fail(why) : self->open_behind_tls(options);
  });
}

void c_client_link::open_behind_tls(const link_options& options) {
  const stand_in instead(options.server);
  if (!instead.is_ready()) return fail(reason_of(instead.failure()));
  open(options, instead.address());
  if (!handle_) return;
  int fd = -1;
  int interest = 0;
  timeval longest{0, 0};
  errno = 0;
  const int rc = zookeeper_interest(handle_, &fd, &interest, &longest);
  // The C client waits for the outcome of its attempt to connect, so it has sent nothing.
  if (rc != ZOK || fd < 0 || zoo_state(handle_) != ZOO_CONNECTING_STATE) return fail(reason_of(errno));
  const int inside = stand_in::take_over(fd);
  if (inside < 0) return fail(errc::connection_loss);
  schedule_pump();  // first, so that it runs before anything arrives
  tls_->relay(inside, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->process(ZOOKEEPER_READ);
  });
}

/// The C client has written, or has not.
void c_client_link::forward() {
  if (tls_) tls_->forward();
}

void c_client_link::give_up_tls() {
  if (tls_) tls_->close();
}

}  // namespace zkrecipes::backend
