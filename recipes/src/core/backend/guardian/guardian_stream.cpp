#include "backend/guardian/guardian_stream.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

namespace zkrecipes::backend {

/// The children that this process has started and has not taken the end of.
/// No signal handler and no thread is needed for them: the ends of earlier ones are taken before the next one is
/// started, so at most those stay as zombies that have ended since. By pidfd, because a program may take the ends of
/// all its children itself, and the number of one of them may then be that of a child that is not ours. Safe from every
/// thread.
class started_processes {
 public:
  /// Takes the pidfd.
  void add(int pidfd);
  void take_ends();

 private:
  std::mutex mutex_;
  std::vector<int> pidfds_;
};

namespace {

bool has_ended(int pidfd) {
  siginfo_t end{};
  const int error = ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &end, WEXITED | WNOHANG) == 0 ? 0 : errno;
  return error == ECHILD || (error == 0 && end.si_pid != 0);
}

}  // namespace

void started_processes::add(int pidfd) {
  const std::lock_guard lock(mutex_);
  pidfds_.push_back(pidfd);
}

void started_processes::take_ends() {
  const std::lock_guard lock(mutex_);
  std::erase_if(pidfds_, [](int each) {
    const bool is_over = has_ended(each);
    if (is_over) ::close(each);
    return is_over;
  });
}

namespace {

constexpr std::string_view prefix = "child:";
constexpr int place_of_socket = 3;

/// What the child does before it executes the program.
class spawn_plan {
 public:
  explicit spawn_plan(int socket) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, place_of_socket);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, place_of_socket + 1);
    sigset_t signals;
    ::posix_spawnattr_init(&attributes_);
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  spawn_plan(const spawn_plan&) = delete;
  ~spawn_plan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  /// Returns the error of the fork, or of the execution.
  int carry_out(pid_t& started, const std::string& program) const {
    std::array<std::string, 3> words{program, "--child", std::to_string(place_of_socket)};
    std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
    return ::posix_spawnp(&started, program.c_str(), &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// One to take its end, and one to kill it. Without them it is killed at once.
std::array<int, 2> open_pidfds(pid_t of, int& error) {
  const auto first = static_cast<int>(::syscall(SYS_pidfd_open, of, 0));
  const auto second = first < 0 ? -1 : ::fcntl(first, F_DUPFD_CLOEXEC, 0);
  if (second >= 0) return {first, second};
  error = errno;
  if (first >= 0) ::close(first);
  if (error == ESRCH) return {-1, -1};  // somebody else has taken its end
  ::kill(of, SIGKILL);
  while (::waitpid(of, nullptr, 0) < 0 && errno == EINTR) continue;
  return {-1, -1};
}

}  // namespace

std::optional<std::string> guardian_program(std::string_view guardian) {
  if (!guardian.starts_with(prefix)) return std::nullopt;
  return std::string(guardian.substr(prefix.size()));
}

guardian_child::~guardian_child() {
  if (pidfd_ >= 0) ::close(pidfd_);
}

void guardian_child::kill() const noexcept {
  if (pidfd_ >= 0) ::syscall(SYS_pidfd_send_signal, pidfd_, SIGKILL, nullptr, 0);
}

started_guardian start_guardian(const std::string& program) {
  static auto& started = *new started_processes;  // never destroyed, because other threads may go on behind `exit`
  started.take_ends();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return {system_error(errno)};
  const auto [ours, theirs] = ends;
  pid_t child = -1;
  int error = spawn_plan(theirs).carry_out(child, program);
  ::close(theirs);
  const auto pidfds = error == 0 ? open_pidfds(child, error) : std::array{-1, -1};
  if (error != 0) {
    ::close(ours);
    return {system_error(error)};
  }
  started.add(pidfds[0]);
  ::fcntl(ours, F_SETFL, O_NONBLOCK);
  return {error_code(), ours, guardian_child(pidfds[1])};
}

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
  if (!home_.is_elsewhere()) child_.kill();
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

namespace {

/// The owner of a line.
class socket_guardian_line final : public guardian_line {
 public:
  explicit socket_guardian_line(std::shared_ptr<guardian_stream> shared) : shared_(std::move(shared)) {}
  socket_guardian_line(const socket_guardian_line&) = delete;
  ~socket_guardian_line() override {
    if (shared_) shared_->abandon();
  }
  bool send(const guardian_message& what) override {
    auto line = to_line(what);
    if (line) shared_->send(std::move(*line));
    return line.has_value();
  }
  void finish() override { std::exchange(shared_, nullptr)->finish(); }
  void give_up() override { std::exchange(shared_, nullptr)->give_up(); }

 private:
  std::shared_ptr<guardian_stream> shared_;
};

}  // namespace

std::unique_ptr<guardian_line> open_guardian_line(asio::any_io_executor strand, const std::string& guardian,
                                                  guardian_listener& listener) {
  auto shared = std::make_shared<guardian_stream>(std::move(strand), listener);
  shared->connect(guardian);
  return std::make_unique<socket_guardian_line>(std::move(shared));
}

}  // namespace zkrecipes::backend
