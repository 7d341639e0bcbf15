#include "backend/guardian/guardian_stream.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include "backend/guardian/guardian_child.hpp"

namespace zkrecipes::backend {

namespace asio = boost::asio;

namespace {

/// A guardian that reads nothing, because it is stopped, must not cost us more memory than this.
constexpr std::size_t most_unsent = 32u << 20;
constexpr std::chrono::seconds longest_finish{1};

long send_with(int socket, std::string_view text, int descriptor) {
  iovec where{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &where;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  auto* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Sends the beginning of the first message with a pidfd of this process.
long send_with_pidfd(int socket, std::string_view text) {
  const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  if (pidfd < 0) return -1;
  const auto sent = send_with(socket, text, pidfd);
  const int error = errno;
  ::close(pidfd);
  errno = error;
  return sent;
}

/// A local socket connects at once or not at all.
started_guardian connect_to(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return {system_error(ENAMETOOLONG)};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return {system_error(errno)};
  if (::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return {error_code(), made};
  const auto error = system_error(errno);
  ::close(made);
  return {error};
}

/// It gets passwords, so it has to be root's, or ours, or that of whoever decides what stands in the folder. Everybody
/// who may write to a folder can put a socket there.
std::string problem_of_listener(int socket, const std::string& path) {
  ucred listener{};
  socklen_t size = sizeof listener;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &listener, &size) != 0)
    return "the system does not say who listens there";
  const auto end_of_folder = path.rfind('/');
  const auto folder = end_of_folder == path.npos ? "." : path.substr(0, end_of_folder + 1);
  struct ::stat seen {};
  const bool is_owner = ::stat(folder.c_str(), &seen) == 0 && seen.st_uid == listener.uid;
  if (listener.uid == 0 || listener.uid == ::geteuid() || is_owner) return {};
  return "user " + std::to_string(listener.uid) + " listens there, who is neither root nor we nor the folder's owner";
}

}  // namespace

guardian_stream::guardian_stream(asio::any_io_executor strand, guardian_listener& listener)
    : strand_(strand), socket_(strand), limit_(std::move(strand)), listener_(&listener) {}

void guardian_stream::connect(const std::string& guardian) {
  std::string problem;
  const auto error = open(guardian, problem);
  asio::post(strand_, [self = shared_from_this(), error, problem] {
    if (!problem.empty() && self->listener_) self->listener_->guardian_said({guardian_answer::kind::refused, problem});
    if (!self->listener_) return;
    if (error) return self->fail(error);
    self->read();
    self->listener_->guardian_up();
  });
}

error_code guardian_stream::open(const std::string& guardian, std::string& problem) {
  const auto program = guardian_program(guardian);
  auto made = program ? start_guardian(*program) : connect_to(guardian);
  child_ = std::move(made.child);
  if (made.error) return made.error;
  if (!program) problem = problem_of_listener(made.socket, guardian);
  error_code error;
  if (!problem.empty()) {
    ::close(made.socket);
    return system_error(EACCES);
  }
  socket_.assign(protocol(), made.socket, error);
  if (error) ::close(made.socket);
  return error;
}

void guardian_stream::send(std::string line) {
  if (!listener_ || is_failing_ || home_.is_elsewhere()) return;
  if (unsent_.size() + line.size() > most_unsent) return fail_later(ENOBUFS);
  unsent_ += line;
  if (!is_writing_) write();
}

void guardian_stream::fail_later(int error) {
  if (std::exchange(is_failing_, true)) return;
  asio::post(strand_, [self = shared_from_this(), error] { self->fail(system_error(error)); });
}

void guardian_stream::write() {
  const auto sent = write_some();
  if (sent < 0 && errno != EAGAIN && errno != EINTR) return fail_later(errno);
  if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));
  if (unsent_.empty() && is_finishing_) close();
  if (unsent_.empty()) return;
  is_writing_ = true;
  socket_.async_wait(protocol::socket::wait_write, [self = shared_from_this()](const error_code& error) {
    self->is_writing_ = false;
    if (!error && self->socket_.is_open()) self->write();
  });
}

long guardian_stream::write_some() {
  const auto socket = socket_.native_handle();
  if (is_hello_sent_) return ::send(socket, unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  const auto sent = send_with_pidfd(socket, unsent_);
  is_hello_sent_ = sent > 0;
  return sent;
}

void guardian_stream::read() {
  auto part = std::make_shared<std::array<char, 4096>>();
  auto arrived = [self = shared_from_this(), part](const error_code& error, std::size_t size) {
    if (!self->listener_) return;
    if (error) return self->fail(error);
    self->take({part->data(), size});
    if (self->listener_) self->read();
  };
  socket_.async_read_some(asio::buffer(*part), asio::bind_executor(strand_, std::move(arrived)));
}

void guardian_stream::take(std::string_view arrived) {
  unread_ += arrived;
  for (;;) {
    const auto end = unread_.find('\n');
    if (end == unread_.npos) break;
    const auto answer = parse_guardian_answer(std::string_view(unread_).substr(0, end));
    unread_.erase(0, end + 1);
    if (answer) listener_->guardian_said(*answer);  // others are of a later version
    if (!listener_) return;
  }
  if (unread_.size() >= longest_line) fail(system_error(EPROTO));
}

/// A child that is of no use to us goes, because nothing that it holds can be taken back, and another one is started.
void guardian_stream::fail(const error_code& reason) {
  auto* listener = std::exchange(listener_, nullptr);
  give_up();
  if (listener) listener->guardian_down(reason);
}

void guardian_stream::finish() {
  listener_ = nullptr;
  if (unsent_.empty() || is_failing_ || !socket_.is_open()) return close();
  is_finishing_ = true;
  limit_.expires_after(longest_finish);
  limit_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && self->socket_.is_open()) self->give_up();
  });
}

void guardian_stream::abandon() {
  listener_ = nullptr;
  close();
}

void guardian_stream::give_up() {
  listener_ = nullptr;
  close();
  child_.kill();
}

/// A process that was forked meanwhile may have the socket, too: it ends for that one as well, but not the other way
/// round.
void guardian_stream::close() {
  if (!socket_.is_open()) return;
  home_.detach_elsewhere(socket_.native_handle());
  error_code ignored;
  limit_.cancel();
  socket_.shutdown(protocol::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace zkrecipes::backend
