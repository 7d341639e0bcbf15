#include "listener.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "descriptor.hpp"

namespace guardian {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error("socket " + path + ": " + why);
}

/// Whether the file still stands there: an earlier guardian removes it when it ends.
bool stands_at(int descriptor, const std::string& path) {
  struct stat held {};
  struct stat there {};
  return ::fstat(descriptor, &held) == 0 && ::lstat(path.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
         held.st_ino == there.st_ino;
}

}  // namespace

socket_lock::socket_lock(const std::string& path)
    : file_(path + ".lock"), held_(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  if (!held_) fail(path, file_ + ": " + std::strerror(errno));
  if (::flock(held_.get(), LOCK_EX | LOCK_NB) != 0) {
    fail(path, errno == EWOULDBLOCK ? "another process, such as a guardian, has locked " + file_
                                    : file_ + ": " + std::strerror(errno));
  }
  if (!stands_at(held_.get(), file_)) fail(path, file_ + " has been removed meanwhile; a guardian was ending perhaps");
}

socket_lock::~socket_lock() { ::unlink(file_.c_str()); }

namespace {

using protocol = boost::asio::local::stream_protocol;

/// After the system has refused a connection: there is no descriptor left, for example.
constexpr std::chrono::milliseconds pause_after_refusal{100};

closing_lane nobody_s() { return closing_lane::of(static_cast<uid_t>(-1)); }

gid_t group_of(const listener::place& where) {
  const auto* found = ::getgrnam(where.group.c_str());
  if (!found) fail(where.path, "there is no group " + where.group);
  return found->gr_gid;
}

}  // namespace

/// Nobody can connect before the socket has its mode and group, because it listens only then.
listener::listener(const boost::asio::any_io_executor& executor, const place& where, handler told)
    : acceptor_(executor), pause_(executor), told_(std::move(told)), path_(where.path) {
  if (path_.empty() || path_.size() >= sizeof(sockaddr_un::sun_path)) fail(path_, "the path is empty or too long");
  lock_.emplace(path_);
  make_room(path_);
  const auto mask = ::umask(0777);
  boost::system::error_code error;
  acceptor_.open(protocol(), error);
  if (!error) acceptor_.bind(path_, error);
  ::umask(mask);
  if (error) fail(path_, error.message());
  ::lstat(path_.c_str(), &own_);
  if (!where.group.empty() && ::chown(path_.c_str(), static_cast<uid_t>(-1), group_of(where)) != 0) {
    fail(path_, std::string("group: ") + std::strerror(errno));
  }
  if (::chmod(path_.c_str(), where.mode) != 0) fail(path_, std::string("mode: ") + std::strerror(errno));
  acceptor_.listen(protocol::acceptor::max_listen_connections, error);
  if (error) fail(path_, error.message());
}

listener::~listener() {
  struct stat now {};
  const bool is_ours = ::lstat(path_.c_str(), &now) == 0 && now.st_dev == own_.st_dev && now.st_ino == own_.st_ino;
  if (is_ours) ::unlink(path_.c_str());
  nobody_s().close(acceptor_);  // connections that were not taken have descriptors in their queues, perhaps
}

/// Removes the socket of a guardian that was killed, at which nobody listens. A guardian that does listen there
/// has no lock if it is of an older version. One that is stopped is not waited for.
void listener::make_room(const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) return;
  if (!S_ISSOCK(there.st_mode)) fail(path, "there is something else");
  const protocol::endpoint where(path);
  const descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) fail(path, std::strerror(errno));
  const bool is_taken = ::connect(probe.get(), where.data(), static_cast<socklen_t>(where.size())) == 0;
  const int why_not = is_taken ? EAGAIN : errno;  // which says that its queue is full
  if (why_not == EAGAIN) fail(path, "another process, such as a guardian, listens there");
  if (why_not == EPROTOTYPE) fail(path, "there is a socket of another type");
  if (why_not != ECONNREFUSED) fail(path, std::string("who listens there can not be asked: ") + std::strerror(why_not));
  ::unlink(path.c_str());
}

void listener::start() {
  const auto alive = std::weak_ptr(alive_);
  acceptor_.async_accept([this, alive](const boost::system::error_code& error, protocol::socket accepted) {
    if (alive.expired() || error == boost::asio::error::operation_aborted) return nobody_s().close(accepted);
    if (!error) {
      start();  // first: what is thrown behind it, such as for want of memory, ends this connection alone
      return told_(std::move(accepted));
    }
    pause_.expires_after(pause_after_refusal);
    pause_.async_wait([this, alive](const boost::system::error_code& cancelled) {
      if (!alive.expired() && !cancelled) start();
    });
  });
}

}  // namespace guardian
