#include "backend/zookeeper/client_handle.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/endian/buffers.hpp>

#include "backend/descriptors.hpp"
#include "backend/wiped_credentials.hpp"

namespace zkrecipes::backend {

namespace {

constexpr std::int32_t number_of_credentials = -4;  // in place of the number of a request
constexpr std::int32_t op_of_credentials = 100;
constexpr std::string_view scheme = "digest";
constexpr std::size_t frame_numbers = 6 * 4;  // all of a frame but its texts

void append(std::string& to, std::int32_t value) {
  const boost::endian::big_int32_buf_t bytes(value);
  to.append(reinterpret_cast<const char*>(bytes.data()), sizeof bytes);
}

std::size_t size_of(const credentials& each) { return each.user.size() + 1 + each.password.size(); }

/// All of a frame but the secret, which has `size` bytes.
void append_head(std::string& to, std::size_t size) {
  append(to, static_cast<std::int32_t>(frame_numbers - 4 + scheme.size() + size));
  append(to, number_of_credentials);
  append(to, op_of_credentials);
  append(to, std::int32_t{0});
  append(to, static_cast<std::int32_t>(scheme.size()));
  to.append(scheme);
  append(to, static_cast<std::int32_t>(size));
}

}  // namespace

/// Room for all is taken first, because a text that grows leaves its old place as it is.
std::string credentials_frames(std::span<const credentials> all) {
  std::size_t size = 0;
  for (const auto& each : all) size += frame_numbers + scheme.size() + size_of(each);
  std::string frames;
  frames.reserve(size);
  for (const auto& each : all) {
    append_head(frames, size_of(each));
    frames.append(each.user).append(1, ':').append(each.password);
  }
  return frames;
}

void unsent_credentials::begin(std::string frames) {
  frames_ = std::move(frames);
  sent_ = 0;
  since_ = std::chrono::steady_clock::now();
}

void unsent_credentials::send(int to) {
  const auto sent = ::send(to, frames_.data() + sent_, frames_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
  const bool is_broken = sent < 0 && errno != EAGAIN && errno != EINTR;
  if (is_broken) ::shutdown(to, SHUT_RDWR);
  if (sent > 0) sent_ += static_cast<std::size_t>(sent);
  if (is_broken || sent_ == frames_.size()) wipe();
}

void unsent_credentials::wipe() noexcept { backend::wipe(frames_); }

namespace asio = boost::asio;

/// The C client finds an address only if the host has one of its family, so the server's family is tried first.
stand_in::stand_in(const endpoint& server) {
  const bool is_v6 = server.address.find(':') != server.address.npos;
  if (!take(is_v6)) take(!is_v6);
}

bool stand_in::take(bool is_v6) {
  const asio::ip::address any =
      is_v6 ? asio::ip::address(asio::ip::address_v6::loopback()) : asio::ip::address(asio::ip::address_v4::loopback());
  asio::ip::tcp::endpoint at(any, 0);
  taken_ = ::socket(at.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto size = static_cast<socklen_t>(at.capacity());
  const bool is_bound = taken_ >= 0 && ::bind(taken_, at.data(), static_cast<socklen_t>(at.size())) == 0 &&
                        ::getsockname(taken_, at.data(), &size) == 0;
  failure_ = is_bound ? 0 : errno;
  if (is_bound) address_ = {at.address().to_string(), at.port()};
  if (!is_bound && taken_ >= 0) ::close(std::exchange(taken_, -1));
  return is_bound;
}

stand_in::~stand_in() {
  if (taken_ >= 0) ::close(taken_);
}

int stand_in::take_over(int descriptor) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) return -1;
  const bool is_replaced = ::dup3(pair[0], descriptor, O_CLOEXEC) == descriptor;
  ::close(pair[0]);
  if (is_replaced) return pair[1];
  ::close(pair[1]);
  return -1;
}

error_code client_handle::open(const session_key& key, const endpoint& at, watcher_fn watcher, void* context) {
  // One address only, so the C client can not choose a wrong order. Its host syntax has no brackets around IPv6
  // addresses.
  const std::string host = at.address + ':' + std::to_string(at.port);
  clientid_t id{};
  id.client_id = key.id;
  std::memcpy(id.passwd, key.password.data(), std::min(sizeof id.passwd, key.password.size()));
  zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // we report errors ourselves, and its log buffers are process-wide
  errno = 0;
  const auto timeout = static_cast<int>(key.timeout.count());
  handle_ = zookeeper_init(host.c_str(), watcher, timeout, key.id ? &id : nullptr, context, 0);
  if (handle_) return {};
  if (errno == ENOMEM) return make_error_code(boost::system::errc::not_enough_memory);
  return boost::asio::error::host_not_found;  // the C client has refused the address
}

client_handle::change client_handle::follow(int fd, bool was_up, bool has_one_only) {
  theirs_ = fd;
  if (descriptor_.is_open() && (was_up || same_file(fd, ours()))) return change::none;
  if (descriptor_.is_open() && has_one_only) return change::lost;
  error_code failed;
  descriptor_.close(failed);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  failed.clear();
  if (copy >= 0) descriptor_.assign(copy, failed);
  if (copy >= 0 && failed) ::close(copy);
  return copy < 0 || failed ? change::lost : change::another;
}

void client_handle::close() {
  if (!handle_) return;
  error_code ignored;
  if (descriptor_.is_open()) {
    detach_elsewhere();
    // On a connection that is up, zookeeper_close blocks for seconds and would end the session. So break the connection
    // first, and throw away unread input, so that the C client reads the end of the stream at once: it would abort on
    // the answer to the close request that we wrote ourselves.
    ::shutdown(ours(), SHUT_RDWR);
    char discard[4096];
    while (::recv(ours(), discard, sizeof discard, MSG_DONTWAIT) > 0) {
    }
    while (state() == ZOO_CONNECTED_STATE && process(ZOOKEEPER_READ) == ZOK) {
    }
    descriptor_.close(ignored);
  }
  zookeeper_close(std::exchange(handle_, nullptr));
}

/// Both descriptors of the connection. That of the C client may have been closed, and its number used again.
void client_handle::detach_elsewhere() {
  if (same_file(theirs_, ours())) home_.detach_elsewhere(theirs_);
  home_.detach_elsewhere(ours());
}

}  // namespace zkrecipes::backend
