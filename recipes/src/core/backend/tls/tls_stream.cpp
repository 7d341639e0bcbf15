#include "backend/tls/tls_stream.hpp"

#include <cerrno>
#include <new>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>

#include "backend/descriptors.hpp"
#include "backend/link.hpp"
#include "backend/tls/tls_context.hpp"

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

namespace asio = boost::asio;

namespace {

constexpr std::size_t record_size = 16 << 10;  // the most that a record of TLS holds

/// The error of a connection attempt as the link tells it.
error_code reason_of_attempt(const error_code& failure) {
  if (failure == boost::system::errc::too_many_files_open ||
      failure == boost::system::errc::too_many_files_open_in_system)
    return errc::no_descriptors;
  const auto known = connect_error(failure.value());
  return known ? known : make_error_code(errc::connection_loss);
}

}  // namespace

tls_stream::tls_stream(const asio::any_io_executor& strand, tls_context::connection with)
    : ticket_(std::move(with.ticket)), server_(strand), handle_(std::move(with.handle)), inside_(strand) {
  SSL_set_connect_state(connection());
  SSL_set_read_ahead(connection(), 1);  // one call of the system for a record, or for many
}

void tls_stream::connect(const endpoint& server, handler then) {
  then_ = std::move(then);
  error_code failure;
  const tcp::endpoint to(asio::ip::make_address(server.address, failure), server.port);
  if (!failure) failure = open_tcp_socket(server_, to.protocol());
  if (failure) {
    return asio::post(server_.get_executor(),
                      [self = shared_from_this(), failure] { self->finish(reason_of_attempt(failure)); });
  }
  server_.async_connect(to, [self = shared_from_this()](const error_code& error) {
    if (self->closed_) return;
    if (error) return self->finish(reason_of_attempt(error));
    self->transport_.carry(self->connection(), self->server_.native_handle());
    self->go_on(&tls_stream::shake_hands);
  });
}

void tls_stream::shake_hands() {
  ERR_clear_error();
  transport_.allow_reads();
  const int rc = SSL_do_handshake(connection());
  if (rc == 1) return finish({});
  const auto left = left_by(rc);
  if (!left.failure) return when_ready(left.until, &tls_stream::shake_hands);
  ticket_->forget();
  finish(tls_reason(left.failure, connection()));
}

tls_stream::unfinished tls_stream::left_by(int rc) const {
  switch (SSL_get_error(connection(), rc)) {
    case SSL_ERROR_WANT_READ: return {{}, tcp::socket::wait_read};
    case SSL_ERROR_WANT_WRITE: return {{}, tcp::socket::wait_write};
    case SSL_ERROR_SSL: {
      const auto first = static_cast<int>(ERR_get_error());
      ERR_clear_error();  // what is left would look like a fault of another connection of this thread
      return {{first, asio::error::get_ssl_category()}};
    }
    default: ERR_clear_error(); break;
  }
  if (transport_.failure() == 0) return {asio::error::eof};
  return {{transport_.failure(), boost::system::system_category()}};
}

void tls_stream::when_ready(tcp::socket::wait_type what, void (tls_stream::*then)()) {
  server_.async_wait(what, [self = shared_from_this(), then](const error_code&) { self->go_on(then); });
}

void tls_stream::go_on(void (tls_stream::*then)()) {
  if (closed_) return;
  if (!home_.is_elsewhere()) return (this->*then)();
  arrived_ ? arrived_() : finish(errc::connection_loss);  // the link leaves it to the parent
}

void tls_stream::finish(const error_code& failure) {
  if (const auto then = std::exchange(then_, nullptr); then && !closed_) then(failure);
}

void tls_stream::relay(int descriptor, std::function<void()> arrived) {
  arrived_ = std::move(arrived);
  error_code failure;
  inside_.assign(local(), descriptor, failure);
  if (failure) ::close(descriptor);
  if (!failure) inside_.non_blocking(true, failure);
  if (failure) return end(failure);
  received_.resize(record_size);
  to_send_.resize(record_size);
  asio::post(server_.get_executor(), [self = shared_from_this()] { self->go_on(&tls_stream::read); });
}

void tls_stream::read() {
  transport_.allow_reads();
  bool may_be_more = true;
  while (may_be_more) {
    const auto size = decrypt();
    if (size > 0 && !pass_on(0, size)) return;
    may_be_more = size == received_.size();
  }
  if (std::exchange(sends_behind_read_, false)) send_on();
  reading_.failure ? end(reading_.failure) : when_ready(reading_.until, &tls_stream::read);
}

/// What has come, as far as it fits.
std::size_t tls_stream::decrypt() {
  std::size_t size = 0;
  while (!reading_.failure && size < received_.size()) {
    ERR_clear_error();
    const int rc = SSL_read(connection(), received_.data() + size, static_cast<int>(received_.size() - size));
    reading_ = rc > 0 ? unfinished() : left_by(rc);
    if (rc <= 0) break;
    size += static_cast<std::size_t>(rc);
    if (SSL_has_pending(connection()) == 0) break;  // the socket tells of more, and a call for nothing is saved
  }
  return size;
}

/// Passes on a part of what was received. False: goes on later, or never. Each write is told, however little it was:
/// the other side reads only when it is told, and may have to before there is room for the rest.
bool tls_stream::pass_on(std::size_t from, std::size_t to) {
  error_code failure;
  from += inside_.write_some(asio::buffer(received_.data() + from, to - from), failure);
  if (failure && failure != asio::error::would_block) return end(failure), false;
  if (!failure) has_received_ = true, arrived_();
  if (from == to || closed_) return !closed_;
  inside_.async_wait(local::socket::wait_write, [self = shared_from_this(), from, to](const error_code&) {
    if (self->home_.is_elsewhere()) return self->go_on(&tls_stream::read);
    if (!self->closed_ && self->pass_on(from, to)) self->read();
  });
  return false;
}

void tls_stream::forward() {
  while (sending_ == 0 && !closed_ && !to_send_.empty()) {
    error_code nothing_more;
    sending_ = inside_.read_some(asio::buffer(to_send_), nothing_more);
    if (nothing_more) sending_ = 0;
    const bool may_be_more = sending_ == to_send_.size();
    if (sending_ == 0 || !encrypt() || !may_be_more) return;
  }
}

/// False: the socket does not take it yet, or never. The end of the connection is seen where it is read. In the middle
/// of a message about keys or tickets OpenSSL has to read before it writes. Only `read` does so: the socket would not
/// tell of what was read here, so that it would stay inside OpenSSL.
bool tls_stream::encrypt() {
  ERR_clear_error();
  transport_.forbid_reads();
  const int rc = SSL_write(connection(), to_send_.data(), static_cast<int>(sending_));
  if (rc > 0) return sending_ = 0, true;
  const auto left = left_by(rc);
  error_code ignored;
  if (left.failure)
    server_.shutdown(tcp::socket::shutdown_both, ignored);
  else if (left.until == tcp::socket::wait_read)
    sends_behind_read_ = true;
  else
    when_ready(left.until, &tls_stream::send_on);
  return false;
}

void tls_stream::send_on() {
  if (encrypt()) forward();
}

/// Only our side of the descriptor's connection is shut down: who writes to its other side gets no signal SIGPIPE.
void tls_stream::end(const error_code& failure) {
  ended_ = tls_reason(failure, connection(), has_received_);
  if (!has_received_ && SSL_session_reused(connection()) == 1) ticket_->forget();
  error_code ignored;
  inside_.shutdown(local::socket::shutdown_send, ignored);
  arrived_();
}

void tls_stream::close() {
  if (std::exchange(closed_, true)) return;
  // A server, or a device on the way to it, that does not get on with the ticket would get it again and again.
  const bool shakes_hands = SSL_get_rbio(connection()) && SSL_is_init_finished(connection()) == 0;
  if (shakes_hands && !has_received_) ticket_->forget();
  // Without this OpenSSL would not take the session of TLS up again, because the connection ends without a farewell.
  SSL_set_shutdown(connection(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  home_.detach_elsewhere(server_.native_handle());
  home_.detach_elsewhere(inside_.native_handle());
  error_code ignored;
  server_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);  // a child of `fork` may have it, too
  server_.close(ignored);
  inside_.close(ignored);
  OPENSSL_cleanse(to_send_.data(), to_send_.size());
  then_ = nullptr;
}

}  // namespace zkrecipes::backend
