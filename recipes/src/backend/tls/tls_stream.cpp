#include "backend/tls/tls_stream.hpp"

#include <cerrno>
#include <utility>

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "backend/tls/tls_reason.hpp"
#include "backend/zookeeper/descriptors.hpp"

namespace zkrecipes::backend {

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

/// Asio opens sockets that a child process would inherit.
error_code open_socket(asio::ip::tcp::socket& socket, const asio::ip::tcp& protocol) {
  const int descriptor = ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return {errno, boost::system::system_category()};
  error_code failure;
  socket.assign(protocol, descriptor, failure);
  if (failure) ::close(descriptor);
  if (!failure) socket.set_option(asio::ip::tcp::no_delay(true), failure);
  return failure;
}

}  // namespace

tls_stream::tls_stream(const asio::any_io_executor& strand, tls_context::connection with)
    : ticket_(std::move(with.ticket)),
      has_certificate_(with.has_certificate),
      server_(tcp::socket(strand), with.handle.release()),
      inside_(strand) {}

void tls_stream::connect(const endpoint& server, handler then) {
  then_ = std::move(then);
  error_code failure;
  const tcp::endpoint to(asio::ip::make_address(server.address, failure), server.port);
  if (!failure) failure = open_socket(server_.next_layer(), to.protocol());
  if (failure) {
    return asio::post(server_.get_executor(),
                      [self = shared_from_this(), failure] { self->finish(reason_of_attempt(failure)); });
  }
  server_.next_layer().async_connect(to, [self = shared_from_this()](const error_code& error) {
    if (self->closed_) return;
    error ? self->finish(reason_of_attempt(error)) : self->shake_hands();
  });
}

void tls_stream::shake_hands() {
  server_.async_handshake(asio::ssl::stream_base::client, [self = shared_from_this()](const error_code& error) {
    if (self->closed_) return;
    if (!error) return self->finish({});
    self->ticket_->forget();
    self->finish(tls_reason(error, self->server_.native_handle(), self->has_certificate_));
  });
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
  from_server();
}

void tls_stream::from_server() {
  server_.async_read_some(asio::buffer(received_),
                          [self = shared_from_this()](const error_code& error, std::size_t size) {
                            if (self->closed_) return;
                            error ? self->end(error) : self->pass_on(size);
                          });
}

void tls_stream::pass_on(std::size_t size) {
  error_code failure;
  const auto written = inside_.write_some(asio::buffer(received_.data(), size), failure);
  if (failure && failure != asio::error::would_block) return end(failure);
  if (written == size) {
    arrived_();
    if (!closed_) from_server();
    return;
  }
  if (written > 0) arrived_();
  if (closed_) return;
  asio::async_write(inside_, asio::buffer(received_.data() + written, size - written),
                    [self = shared_from_this()](const error_code& error, std::size_t) {
                      if (error || self->closed_) return;
                      self->arrived_();
                      if (!self->closed_) self->from_server();
                    });
}

void tls_stream::forward() {
  if (sending_ || closed_ || to_send_.empty()) return;
  error_code nothing_more;
  const auto size = inside_.read_some(asio::buffer(to_send_), nothing_more);
  if (nothing_more) return;
  sending_ = true;
  asio::async_write(server_, asio::buffer(to_send_.data(), size),
                    [self = shared_from_this()](const error_code& error, std::size_t) {
                      self->sending_ = false;
                      if (!error) self->forward();  // the end of the connection is seen where it is read
                    });
}

/// Only our side of the descriptor's connection is shut down: who writes to its other side gets no signal SIGPIPE.
void tls_stream::end(const error_code& failure) {
  ended_ = tls_reason(failure, server_.native_handle(), has_certificate_);
  error_code ignored;
  inside_.shutdown(local::socket::shutdown_send, ignored);
  arrived_();
}

void tls_stream::close() {
  if (std::exchange(closed_, true)) return;
  // Without this OpenSSL would not take the session of TLS up again, because the connection ends without a farewell.
  SSL_set_shutdown(server_.native_handle(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  error_code ignored;
  server_.next_layer().close(ignored);
  inside_.close(ignored);
  OPENSSL_cleanse(to_send_.data(), to_send_.size());
  then_ = nullptr;
}

}  // namespace zkrecipes::backend
