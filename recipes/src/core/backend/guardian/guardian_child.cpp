#include "backend/guardian/guardian_child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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

}  // namespace zkrecipes::backend
