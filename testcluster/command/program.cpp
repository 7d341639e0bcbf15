#include "program.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testcluster/error.hpp>

#include "descriptor.hpp"

namespace testcluster::command {
namespace {

[[noreturn]] void become(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                         const sigset_t& blocked, pid_t parent, int problem) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(0);  // it has ended meanwhile
  for (const auto& [name, value] : environment)
    value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const auto& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  ::execvp(arguments[0], arguments.data());
  const int reason = errno;
  [[maybe_unused]] const auto told = ::write(problem, &reason, sizeof reason);
  ::_exit(127);
}

}  // namespace

pid_t start_program(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                    const sigset_t& blocked) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw error(std::string("pipe: ") + std::strerror(errno));
  const detail::descriptor reading(ends[0]);
  detail::descriptor writing(ends[1]);
  const auto parent = ::getpid();
  const auto child = ::fork();
  if (child < 0) throw error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) become(command, environment, blocked, parent, writing.get());
  writing.reset();
  int reason = 0;
  ssize_t size = 0;
  while ((size = ::read(reading.get(), &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  if (size == 0) return child;
  ::waitpid(child, nullptr, 0);
  throw std::system_error(reason, std::generic_category(), command[0]);
}

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace testcluster::command
