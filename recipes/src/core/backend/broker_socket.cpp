#include "backend/broker_socket.hpp"

#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "backend/link.hpp"
#include "backend/tls/tls_context.hpp"

namespace zkrecipes::backend {

namespace asio = boost::asio;

broker_socket::broker_socket(const asio::any_io_executor& strand, std::optional<tls_context::connection> secure)
    : plain_(strand) {
  if (!secure) return;
  ticket_ = std::move(secure->ticket);
  secure_.emplace(plain_, secure->handle.release());
}

void broker_socket::connect(const endpoint& broker, connected then) {
  error_code failure;
  const tcp::endpoint to(asio::ip::make_address(broker.address, failure), broker.port);
  if (!failure) failure = open(to.protocol());
  if (failure) return asio::post(plain_.get_executor(), [then = std::move(then), failure] { then(failure); });
  plain_.async_connect(to, [this, then = std::move(then)](const error_code& error) mutable {
    if (error || !secure_) return then(error);
    shake_hands(std::move(then));
  });
}

error_code broker_socket::open(const tcp& protocol) {
  auto failure = open_tcp_socket(plain_, protocol);
  if (!failure) plain_.set_option(tcp::socket::keep_alive(true), failure);
  return failure;
}

void broker_socket::shake_hands(connected then) {
  secure_->async_handshake(asio::ssl::stream_base::client, [this, then = std::move(then)](const error_code& error) {
    if (!error || error == asio::error::operation_aborted) return then(error);
    ticket_->forget();
    then(tls_reason(error, secure_->native_handle()));
  });
}

void broker_socket::read_some(asio::mutable_buffer to, moved then) {
  if (!secure_) return plain_.async_read_some(to, std::move(then));
  secure_->async_read_some(to, [this, then = std::move(then)](const error_code& error, std::size_t size) {
    const bool is_refusal = error && error != asio::error::operation_aborted;
    then(is_refusal ? tls_reason(error, secure_->native_handle()) : error, size);
  });
}

void broker_socket::write(asio::const_buffer all, moved then) {
  if (home_.is_elsewhere())
    return asio::post(plain_.get_executor(), [then = std::move(then)] { then(asio::error::not_connected, 0); });
  secure_ ? asio::async_write(*secure_, all, std::move(then)) : asio::async_write(plain_, all, std::move(then));
}

void broker_socket::close() {
  // Without this OpenSSL would not take the session of TLS up again, because the connection ends without a farewell.
  if (secure_) SSL_set_shutdown(secure_->native_handle(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  home_.detach_elsewhere(plain_.native_handle());
  error_code ignored;
  plain_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);  // a child of `fork` may have it, too
  plain_.close(ignored);
}

}  // namespace zkrecipes::backend
