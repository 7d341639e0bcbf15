#include "tls/stream_case.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <random>
#include <utility>

#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "support/temporary_folder.hpp"

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
