#include "backend/zookeeper/client_handle.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>

#include "backend/zookeeper/descriptors.hpp"

namespace zkrecipes::backend {

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
