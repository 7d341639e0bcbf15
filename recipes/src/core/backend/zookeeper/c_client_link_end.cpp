// How a connection ends, and how its listener hears of it and of all that came before.
#include <cerrno>
#include <utility>

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include "backend/begin_once.hpp"
#include "backend/tls/tls_stream.hpp"
#include "backend/zookeeper/c_client_link.hpp"
#include "backend/zookeeper/descriptors.hpp"

namespace zkrecipes::backend {

namespace asio = boost::asio;

namespace {

reply unsent() {
  reply lost;
  lost.error = errc::connection_loss;
  lost.sent = false;
  return lost;
}

}  // namespace

void c_client_link::check(int rc) {
  if (!handle_) return;
  int state = zoo_state(handle_);
  if (state == ZOO_EXPIRED_SESSION_STATE) return fail(errc::session_expired);
  if (state == ZOO_AUTH_FAILED_STATE) return fail(errc::auth_failed);
  if (state == ZOO_READONLY_STATE) return fail(errc::read_only);
  bool lost = was_up_ ? state != ZOO_CONNECTED_STATE : state == 0;
  if (rc == ZOPERATIONTIMEOUT) return fail(errc::timed_out);
  if (rc == ZRUNTIMEINCONSISTENCY) return fail(breach_of_protocol());  // to another request than the first
  if (lost || (rc != ZOK && rc != ZNOTHING)) fail(errc::connection_loss);
}

void c_client_link::fail(error_code reason) {
  if (down_pending_ || !listener_) return;
  down_pending_ = true;
  if (!was_up_ && tls_ && reason == errc::connection_loss && tls_->ended()) reason = tls_->ended();
  // The C client does not tell why it can not connect, so we check whether descriptors have run out.
  if (!was_up_ && reason == errc::connection_loss && !has_spare_descriptor()) reason = errc::no_descriptors;
  down_reason_ = closing_ ? make_error_code(errc::closed) : reason;
  destroy_handle();  // answers the pending requests with connection_loss
  for (auto& each : std::exchange(held_, {})) heard_of_.push_back(finished{std::move(each.handler), unsent()});
  give_up_tls();
  deliver_later();
}

void c_client_link::destroy_handle() {
  digest_.clear();
  wipe(unshown_);
  if (!handle_) return;
  error_code ignored;
  timer_.cancel();
  if (descriptor_.is_open()) {
    detach_elsewhere();
    // On a connection that is up, zookeeper_close blocks for seconds and would end the session. So break the connection
    // first, and throw away unread input, so that the C client reads the end of the stream at once: it would abort on
    // the answer to the close request that we wrote ourselves.
    ::shutdown(descriptor_.native_handle(), SHUT_RDWR);
    char discard[4096];
    while (::recv(descriptor_.native_handle(), discard, sizeof discard, MSG_DONTWAIT) > 0) {
    }
    while (zoo_state(handle_) == ZOO_CONNECTED_STATE && zookeeper_process(handle_, ZOOKEEPER_READ) == ZOK) {
    }
    descriptor_.close(ignored);
  }
  zookeeper_close(std::exchange(handle_, nullptr));
}

/// Both descriptors of the connection. That of the C client may have been closed, and its number used again.
void c_client_link::detach_elsewhere() {
  const int ours = descriptor_.native_handle();
  if (same_file(c_client_descriptor_, ours)) home_.detach_elsewhere(c_client_descriptor_);
  home_.detach_elsewhere(ours);
}

void c_client_link::deliver_later() {
  if (listening_) return;
  detail::begin_once(delivery_scheduled_, [this] {
    // The destructor's last callbacks come here, too. Then the lock fails, and nothing is delivered.
    if (auto self = weak_from_this().lock()) asio::post(strand_, [self] { self->deliver(); });
  });
}

void c_client_link::deliver() {
  delivery_scheduled_ = false;
  if (std::exchange(up_pending_, false) && listener_) listener_->up(granted_);
  for (auto& each : std::exchange(heard_of_, {})) {
    if (!listener_) return;
    if (const auto* event = std::get_if<watch_event>(&each)) {
      listener_->fired(*event);
    } else {
      auto& answered = std::get<finished>(each);
      answered.handler(std::move(answered.answer));
    }
  }
  if (down_pending_ && heard_of_.empty() && listener_) std::exchange(listener_, nullptr)->down(down_reason_);
}

void c_client_link::close_session() {
  if (std::exchange(closing_, true) || !handle_) return;
  if (zoo_state(handle_) != ZOO_CONNECTED_STATE) return fail(errc::closed);
  schedule_pump();
}

void c_client_link::send_close_frame() {
  // Written here, because zookeeper_close would block. The request has twelve bytes: length, any xid, closeSession
  // (-11).
  static constexpr unsigned char frame[] = {0, 0, 0, 8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf5};
  close_sent_ = true;
  timer_.cancel();
  descriptor_.cancel();
  // Asio's write would raise SIGPIPE if the server has reset the connection.
  const auto sent = ::send(descriptor_.native_handle(), frame, sizeof frame, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
    return descriptor_.async_wait(descriptor_.wait_write, [self = shared_from_this()](error_code error) {
      error ? self->fail(errc::closed) : self->send_close_frame();
    });
  }
  if (sent != sizeof frame) return fail(errc::closed);
  forward();
  await_end_of_stream();
}

void c_client_link::await_end_of_stream() {
  descriptor_.async_read_some(asio::buffer(discard_), [self = shared_from_this()](error_code error, std::size_t) {
    if (error) return self->fail(errc::closed);
    self->await_end_of_stream();
  });
}

void c_client_link::abandon() {
  listener_ = nullptr;
  destroy_handle();
  give_up_tls();
  heard_of_.clear();
  held_.clear();
}

}  // namespace zkrecipes::backend
