#include "process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "roles.hpp"

namespace demo {

// The guardian beside the consumers.

/// Its log is dropped, because the terminal shows the dashboard.
int guard(const std::string& socket) {
  const auto program = beside("zkrecipes-guardian");
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  ::execl(program.c_str(), program.c_str(), "--socket", socket.c_str(), "--mode", "0600", nullptr);
  throw std::system_error(errno, std::generic_category(), program);
}

scratch::scratch() {
  auto name = (std::filesystem::temp_directory_path() / "zkrecipes-demo-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
  path_ = name;
}

scratch::~scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

process::process(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& each : words) argv.push_back(each.data());
  argv.push_back(nullptr);
  int failure = ::posix_spawn(&pid_, program.c_str(), nullptr, nullptr, argv.data(), environ);
  if (failure) throw std::system_error(failure, std::generic_category(), program);
}

process::process(process&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}

process& process::operator=(process&& other) noexcept {
  std::swap(pid_, other.pid_);
  return *this;
}

process::~process() {
  if (!pid_) return;
  signal(SIGKILL);
  wait();
}

void process::signal(int number) const {
  if (pid_) ::kill(pid_, number);
}

bool process::pause() const {
  if (!pid_) return false;
  signal(SIGSTOP);
  siginfo_t found{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &found, WSTOPPED | WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  return found.si_code == CLD_STOPPED;
}

bool process::has_ended() const {
  siginfo_t found{};
  return !pid_ || (::waitid(P_PID, static_cast<id_t>(pid_), &found, WEXITED | WNOHANG | WNOWAIT) == 0 && found.si_pid);
}

int process::wait() {
  int status = 0;
  pid_t pid = std::exchange(pid_, 0);
  while (pid && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void die_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent ended before the call
}

std::string beside(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

}  // namespace demo
