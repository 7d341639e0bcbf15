#include "guardian/child.hpp"

#include <array>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace guardian::test {

namespace backend = zkrecipes::backend;

namespace {

using pipe_ends = std::pair<descriptor, descriptor>;

pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return {descriptor(ends[0]), descriptor(ends[1])};
}

descriptor connect_to(const std::string& path) {
  descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  if (::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("no guardian at " + path);
  }
  return made;
}

/// Boost.Test would catch the signal that a child is to die of.
void forget_handlers() {
  for (const int each : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTERM, SIGALRM}) ::signal(each, SIG_DFL);
}

/// The first descriptors behind the standard ones are those of the orders; all others are closed, because they belong
/// to the guardian and to connections of the test.
child::orders keep_only(int to_test, int from_test) {
  const int to = ::fcntl(to_test, F_DUPFD_CLOEXEC, 1'000);
  const int from = ::fcntl(from_test, F_DUPFD_CLOEXEC, 1'000);
  ::dup3(to, 3, O_CLOEXEC);
  ::dup3(from, 4, O_CLOEXEC);
  ::syscall(SYS_close_range, 5, ~0U, 0);
  return {3, 4};
}

}  // namespace

descriptor open_pidfd(pid_t pid, unsigned flags) {
  return descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, flags)));
}

talker::talker(const std::string& path) : socket_(connect_to(path)) {}

bool talker::send(const std::string& bytes, const std::vector<int>& descriptors) {
  iovec where{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(64 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &where;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const auto size = descriptors.size() * sizeof(int);
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(size);
    auto* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(header), descriptors.data(), size);
  }
  const auto sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  if (sent < 0) return false;
  const auto rest = bytes.substr(static_cast<std::size_t>(sent));
  return rest.empty() || send(rest);
}

void talker::greet(std::chrono::milliseconds hang_limit, const std::string& client) {
  const auto pidfd = open_pidfd(::getpid());
  send(*backend::to_line(backend::guardian_hello{client, hang_limit}), {pidfd.get()});
}

std::string talker::hear() {
  std::size_t end;
  while ((end = unread_.find('\n')) == unread_.npos) {
    std::array<char, 4096> part;
    const auto size = ::read(socket_.get(), part.data(), part.size());
    if (size <= 0) return {};
    unread_.append(part.data(), static_cast<std::size_t>(size));
  }
  auto line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return line;
}

void talker::complete() {
  tell(backend::guardian_complete());
  hear();
}

backend::guarded_session session_of(std::int64_t id) {
  backend::guarded_session session;
  session.key = {id, "0123456789abcdef", std::chrono::seconds(10)};
  session.servers = {{"127.0.0.1", 2181}};
  session.digest = {{"user", "hush"}};
  return session;
}

backend::guarded_term term_of(std::int64_t session, const std::string& record) {
  return {session, record, "_c_1", record + "/_c_1"};
}

void child::orders::report(char what) const { [[maybe_unused]] const auto written = ::write(to_test, &what, 1); }

char child::orders::wait() const {
  char what = 0;
  return ::read(from_test, &what, 1) == 1 ? what : '\0';
}

child::child(const std::function<void(const orders&)>& what) {
  auto [reports, to_test] = make_pipe();
  auto [from_test, orders_end] = make_pipe();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("no child");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    forget_handlers();
    try {
      what(keep_only(to_test.get(), from_test.get()));
    } catch (...) {
      ::_exit(99);
    }
    ::_exit(0);
  }
  reports_ = std::move(reports);
  orders_ = std::move(orders_end);
}

child::~child() { drop(); }

void child::drop() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    reap();
  }
  orders_ = descriptor();
}

void child::order(char what) const { [[maybe_unused]] const auto written = ::write(orders_.get(), &what, 1); }

void child::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

void child::wait_for_end() const {
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT);
}

void child::wait_until_stopped() const {
  siginfo_t stopped{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WNOWAIT);
}

int child::reap() {
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return status;
}

bool child::is_alive() const {
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT | WNOHANG) == 0 && ended.si_pid == 0;
}

}  // namespace guardian::test
