#include "tls/stream_case.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "support/temporary_folder.hpp"

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

namespace {

watched_socket* present = nullptr;

/// The function of this name that comes after the one in this file.
template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

watched_socket::watched_socket() { present = this; }

watched_socket::~watched_socket() { present = nullptr; }

void watched_socket::watch(int descriptor) {
  descriptor_ = descriptor;
  reads_ = bytes_read_ = broken_pipes_ = 0;
}

std::size_t watched_socket::waiting() const {
  int size = 0;
  return ::ioctl(descriptor_, FIONREAD, &size) == 0 ? static_cast<std::size_t>(size) : 0;
}

std::size_t watched_socket::unsent() const {
  int size = 0;
  return ::ioctl(descriptor_, SIOCOUTQNSD, &size) == 0 ? static_cast<std::size_t>(size) : 0;
}

void watched_socket::take_nothing_behind_unsent() {
  const int most = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
}

bool watched_socket::takes_more() const {
  pollfd each{descriptor_, POLLOUT, 0};
  return ::poll(&each, 1, 0) > 0;
}

watched_socket* watched_socket::of(int descriptor) {
  return present && present->descriptor_ == descriptor ? present : nullptr;
}

void watched_socket::handle_read(ssize_t result) {
  ++reads_;
  if (result > 0) bytes_read_ += static_cast<std::size_t>(result);
}

void watched_socket::handle_write(ssize_t result, int number) {
  if (result < 0) broken_pipes_ += number == EPIPE;
  if (result > 0 && room != unlimited) room -= static_cast<std::size_t>(result);
}

}  // namespace zkrecipes::test

// The linker takes these for the whole program.

ssize_t recv(int descriptor, void* to, std::size_t size, int flags) {
  static const auto next = zkrecipes::test::original<ssize_t(int, void*, std::size_t, int)>("recv");
  auto* watched = zkrecipes::test::watched_socket::of(descriptor);
  const auto result = next(descriptor, to, size, flags);
  const int failure = errno;
  if (watched) watched->handle_read(result);
  if (watched && watched->after_read) watched->after_read();
  errno = failure;
  return result;
}

ssize_t send(int descriptor, const void* from, std::size_t size, int flags) {
  static const auto next = zkrecipes::test::original<ssize_t(int, const void*, std::size_t, int)>("send");
  auto* watched = zkrecipes::test::watched_socket::of(descriptor);
  if (!watched) return next(descriptor, from, size, flags);
  if (watched->room == 0) return errno = EAGAIN, -1;
  if (watched->failure != 0) return errno = watched->failure, -1;
  if (watched->in_segments) flags |= MSG_EOR;
  const auto result = next(descriptor, from, std::min(size, watched->room), flags);
  const int failure = errno;
  watched->handle_write(result, failure);
  errno = failure;
  return result;
}

namespace zkrecipes::test {

using namespace std::chrono_literals;

namespace {

constexpr auto longest_wait = 30s;
constexpr int narrow_size = 4096;

struct stream_certificates {
  temporary_folder folder;
  testcluster::authority authority{folder.path()};
  testcluster::certificate_files server = authority.issue({.name = "server", .hosts = {"127.0.0.1"}});
};

const stream_certificates& certificates() {
  static const stream_certificates all;
  return all;
}

/// The socket of this process that is connected to this port, -1: none.
int descriptor_to(std::uint16_t port) {
  rlimit most{};
  ::getrlimit(RLIMIT_NOFILE, &most);
  const int end = static_cast<int>(std::min<rlim_t>(most.rlim_cur, 4096));
  for (int each = 0; each < end; ++each) {
    sockaddr_in to{};
    socklen_t size = sizeof to;
    const bool is_connected = ::getpeername(each, reinterpret_cast<sockaddr*>(&to), &size) == 0;
    if (is_connected && to.sin_family == AF_INET && ntohs(to.sin_port) == port) return each;
  }
  return -1;
}

void set_buffers(int descriptor, int bytes) {
  for (const int which : {SO_SNDBUF, SO_RCVBUF}) ::setsockopt(descriptor, SOL_SOCKET, which, &bytes, sizeof bytes);
}

}  // namespace

std::string long_text(std::size_t size) {
  std::mt19937 random(static_cast<std::uint32_t>(size));
  std::string text(size, '\0');
  for (auto& each : text) each = static_cast<char>(random());
  return text;
}

std::string stream_authority() { return certificates().authority.certificate().string(); }

stream_case::stream_case(int version)
    : server(certificates().server, version),
      signal_before_(std::signal(SIGPIPE, SIG_DFL)),
      context_(tls_options{.authorities = stream_authority()}) {
  renew();
}

stream_case::~stream_case() {
  stream->close();
  close_user();
  std::signal(SIGPIPE, signal_before_);
}

void stream_case::renew() {
  if (stream) stream->close();
  stream = make(io);
  connects = arrivals = 0;
  connected = {};
  arrived.clear();
  has_user_seen_end = false;
}

std::shared_ptr<backend::tls_stream> stream_case::make(asio::io_context& by) {
  return std::make_shared<backend::tls_stream>(by.get_executor(), context_.make("server", {"127.0.0.1"}));
}

void stream_case::begin() {
  stream->connect(server.address(), [this](error_code failure) {
    ++connects;
    connected = failure;
  });
  server.accept();
  socket.watch(descriptor_to(server.address().port));
  BOOST_TEST_REQUIRE(socket.descriptor() >= 0);
  if (buffer_size_) set_buffers(socket.descriptor(), *buffer_size_);
}

void stream_case::establish() {
  begin();
  BOOST_TEST_REQUIRE(until([&] {
    server.take();
    const bool is_complete = server.shake_hands();
    server.give();
    return is_complete && connects > 0;
  }));
  BOOST_TEST_REQUIRE(!connected, connected.message());
}

void stream_case::hand_over() {
  std::array<int, 2> ends{};
  BOOST_TEST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
  if (buffer_size_) {
    for (const int each : ends) set_buffers(each, *buffer_size_);
  }
  close_user();
  user = ends[1];
  stream->relay(ends[0], [this] {
    ++arrivals;
    if (is_reading) user_reads();
    if (on_arrival) on_arrival();
  });
}

void stream_case::relay() {
  const auto reads = socket.reads();
  hand_over();
  BOOST_TEST_REQUIRE(until([&] { return socket.bytes_read() == server.given() && socket.reads() > reads; }));
}

void stream_case::open() {
  establish();
  relay();
}

void stream_case::open_narrow() {
  buffer_size_ = narrow_size;
  server.narrow(narrow_size);
  open();
}

void stream_case::user_reads() {
  std::array<char, 1 << 14> buffer;
  for (;;) {
    const auto size = ::read(user, buffer.data(), buffer.size());
    // The system tells of a reset if the stream has not read everything.
    if (size == 0 || (size < 0 && errno == ECONNRESET)) has_user_seen_end = true;
    if (size <= 0) return;
    arrived.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

std::size_t stream_case::user_writes(std::string_view text) {
  const auto size = ::write(user, text.data(), text.size());
  if (before_turn) before_turn();
  stream->forward();
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

std::size_t stream_case::user_fills(std::string_view text) {
  std::size_t written = 0;
  int looks = 0;  // in a row, because the system may still carry what it has taken
  BOOST_TEST_REQUIRE(until([&] {
    const auto size = user_writes(text.substr(written));
    written += size;
    looks = size == 0 && !socket.takes_more() ? looks + 1 : 0;
    return looks == 10;
  }));
  BOOST_TEST_REQUIRE(written < text.size());
  return written;
}

void stream_case::close_user() {
  if (user >= 0) ::close(std::exchange(user, -1));
}

bool stream_case::until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + longest_wait;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    if (io.stopped()) io.restart();
    if (before_turn) before_turn();
    const auto ran = io.poll_one();
    turns += ran > 0 ? ran : io.run_one_for(1ms);
  }
  return true;
}

bool stream_case::is_quiet() {
  std::size_t busy = 0;
  for (int i = 0; i < 100; ++i) {
    if (io.stopped()) io.restart();
    if (before_turn) before_turn();
    busy += io.poll_one();
  }
  turns += busy;
  return busy < 10;
}

void stream_case::await_end() {
  BOOST_TEST_REQUIRE(until([&] { return has_user_seen_end; }));
  BOOST_TEST(bool(stream->ended()));
}

}  // namespace zkrecipes::test
