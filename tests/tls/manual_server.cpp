#include "tls/manual_server.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zkrecipes::test {

namespace {

constexpr int patience_ms = 30'000;

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

int listen_on_loopback() {
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(::bind(made, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0, "bind");
  require(::listen(made, 8) == 0, "listen");
  return made;
}

}  // namespace

manual_server::manual_server(const testcluster::certificate_files& own, int version)
    : context_(SSL_CTX_new(TLS_server_method())), listening_(listen_on_loopback()) {
  SSL_CTX_set_min_proto_version(context_.get(), version);
  SSL_CTX_set_max_proto_version(context_.get(), version);
  require(SSL_CTX_use_certificate_chain_file(context_.get(), own.certificate.c_str()) == 1, "certificate");
  require(SSL_CTX_use_PrivateKey_file(context_.get(), own.key.c_str(), SSL_FILETYPE_PEM) == 1, "key");
}

manual_server::~manual_server() {
  close();
  ::close(listening_);
}

backend::endpoint manual_server::address() const {
  sockaddr_in here{};
  socklen_t size = sizeof here;
  ::getsockname(listening_, reinterpret_cast<sockaddr*>(&here), &size);
  return {"127.0.0.1", ntohs(here.sin_port)};
}

void manual_server::require_client(const std::string& authority) {
  require(SSL_CTX_load_verify_file(context_.get(), authority.c_str()) == 1, "authority");
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

void manual_server::ask_client(const std::string& authority) {
  require_client(authority);
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
}

void manual_server::want_another_hello() { SSL_CTX_set1_groups_list(context_.get(), "P-521"); }

void manual_server::use_long_tickets() {
  const auto lengthen = [](SSL* connection, void*) {
    static constexpr std::array<char, 2000> filling{};
    return SSL_SESSION_set1_ticket_appdata(SSL_get_session(connection), filling.data(), filling.size());
  };
  SSL_CTX_set_max_send_fragment(context_.get(), 512);
  SSL_CTX_set_session_ticket_cb(context_.get(), lengthen, nullptr, nullptr);
}

/// Connections have the buffer for reading of the socket that listens, and the size of its segments. Those of loopback
/// are larger than the buffers, and would be dropped until a timer of TCP ends.
void manual_server::narrow(int bytes) {
  buffer_size_ = bytes;
  const int segment = 1024;
  ::setsockopt(listening_, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
  ::setsockopt(listening_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

void manual_server::accept() {
  close();
  pollfd each{listening_, POLLIN, 0};
  require(::poll(&each, 1, patience_ms) == 1, "nobody connects");
  connection_ = ::accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  require(connection_ >= 0, "accept");
  const int at_once = 1;
  ::setsockopt(connection_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  if (buffer_size_ > 0) ::setsockopt(connection_, SOL_SOCKET, SO_SNDBUF, &buffer_size_, sizeof buffer_size_);
  handle_.reset(SSL_new(context_.get()));
  in_ = BIO_new(BIO_s_mem());
  out_ = BIO_new(BIO_s_mem());
  SSL_set_bio(handle_.get(), in_, out_);
  SSL_set_accept_state(handle_.get());
  SSL_set_msg_callback(handle_.get(), &on_message);
  SSL_set_msg_callback_arg(handle_.get(), this);
  outgoing_.clear();
  gone_ = given_ = key_updates_ = 0;
  has_seen_end_ = false;
}

void manual_server::close() {
  if (connection_ >= 0) ::close(std::exchange(connection_, -1));
}

void manual_server::reset() {
  const linger at_once{1, 0};
  ::setsockopt(connection_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

void manual_server::take() {
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const auto size = ::recv(connection_, buffer.data(), buffer.size(), 0);
    if (size == 0) has_seen_end_ = true;
    if (size <= 0) return;
    BIO_write(in_, buffer.data(), static_cast<int>(size));
  }
}

void manual_server::take_instead(std::string_view bytes) {
  BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
}

std::size_t manual_server::give(std::size_t most) {
  const auto before = gone_;
  most = std::min(most, to_give());
  while (gone_ - before < most) {
    const auto size = ::send(connection_, outgoing_.data() + gone_, most - (gone_ - before), MSG_NOSIGNAL);
    if (size <= 0) break;
    gone_ += static_cast<std::size_t>(size);
  }
  given_ += gone_ - before;
  return gone_ - before;
}

bool manual_server::shake_hands() {
  ERR_clear_error();
  const bool is_complete = SSL_do_handshake(handle_.get()) == 1;
  collect();
  return is_complete;
}

void manual_server::write(std::string_view text) {
  ERR_clear_error();
  require(SSL_write(handle_.get(), text.data(), static_cast<int>(text.size())) > 0, "the server could not write");
  collect();
}

void manual_server::write_raw(std::string_view bytes) { outgoing_ += bytes; }

std::string manual_server::read() {
  std::string text;
  std::array<char, 1 << 14> buffer;
  ERR_clear_error();
  for (int size = 1; size > 0;) {
    size = SSL_read(handle_.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  collect();
  return text;
}

void manual_server::update_key(bool ask_for_the_same) {
  const int kind = ask_for_the_same ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;
  require(SSL_key_update(handle_.get(), kind) == 1, "the key could not be changed");
  require(shake_hands(), "the change of the key could not be written");
}

void manual_server::notify_close() {
  ERR_clear_error();
  SSL_shutdown(handle_.get());
  collect();
}

void manual_server::on_message(int by_us, int, int type, const void* bytes, std::size_t size, SSL*, void* self) {
  if (by_us || type != SSL3_RT_HANDSHAKE || size == 0) return;
  static_cast<manual_server*>(self)->key_updates_ += *static_cast<const unsigned char*>(bytes) == SSL3_MT_KEY_UPDATE;
}

/// What OpenSSL has written.
void manual_server::collect() {
  std::array<char, 1 << 14> buffer;
  for (int size = 1; size > 0;) {
    size = BIO_read(out_, buffer.data(), static_cast<int>(buffer.size()));
    if (size > 0) outgoing_.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace zkrecipes::test
