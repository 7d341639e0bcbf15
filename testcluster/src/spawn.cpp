#include "spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptor.hpp"

namespace testcluster::detail {
namespace {

void check(int error_number, const std::string& what) {
  if (error_number != 0) throw std::system_error(error_number, std::generic_category(), what);
}

struct actions {
  posix_spawn_file_actions_t value;
  actions() { check(::posix_spawn_file_actions_init(&value), "posix_spawn"); }
  ~actions() { ::posix_spawn_file_actions_destroy(&value); }
  actions(const actions&) = delete;
  actions& operator=(const actions&) = delete;
};

struct attributes {
  posix_spawnattr_t value;
  attributes() { check(::posix_spawnattr_init(&value), "posix_spawn"); }
  ~attributes() { ::posix_spawnattr_destroy(&value); }
  attributes(const attributes&) = delete;
  attributes& operator=(const attributes&) = delete;
};

void describe_files(actions& files, const spawn_options& options) {
  if (options.input >= 0) {
    check(::posix_spawn_file_actions_adddup2(&files.value, options.input, STDIN_FILENO), "standard input");
  } else {
    check(::posix_spawn_file_actions_addopen(&files.value, STDIN_FILENO, "/dev/null", O_RDONLY, 0), "/dev/null");
  }
  check(::posix_spawn_file_actions_addopen(&files.value, STDOUT_FILENO, options.output.c_str(),
                                           O_WRONLY | O_CREAT | O_APPEND, 0644),
        options.output);
  check(::posix_spawn_file_actions_adddup2(&files.value, STDOUT_FILENO, STDERR_FILENO), "standard error");
  check(::posix_spawn_file_actions_addchdir_np(&files.value, options.working_directory.c_str()),
        options.working_directory);
  check(::posix_spawn_file_actions_addclosefrom_np(&files.value, STDERR_FILENO + 1), "closefrom");
}

void describe_process(attributes& process, const spawn_options& options) {
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  check(::posix_spawnattr_setsigmask(&process.value, &none), "signal mask");
  check(::posix_spawnattr_setsigdefault(&process.value, &all), "signals");
  check(::posix_spawnattr_setpgroup(&process.value, options.group), "process group");
  check(::posix_spawnattr_setflags(&process.value,
                                   POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF),
        "posix_spawn");
}

/// What `exec` takes: pointers, with a null pointer at the end.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const auto& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

pid_t spawn(const spawn_options& options) {
  actions files;
  describe_files(files, options);
  attributes process;
  describe_process(process, options);
  const auto arguments = pointers(options.command);
  const auto variables = pointers(options.environment);
  pid_t child = 0;
  check(::posix_spawnp(&child, arguments[0], &files.value, &process.value, arguments.data(),
                       options.environment.empty() ? environ : variables.data()),
        "could not start " + options.command[0]);
  return child;
}

// Other code in this process may have collected the child. `waitpid` then fails, which also means that the child is
// gone.
bool collect(pid_t child) { return ::waitpid(child, nullptr, WNOHANG) != 0; }

void await(pid_t child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// `waitpid` has no timeout, and SIGCHLD belongs to the user's program. A descriptor of the child can be waited for.
/// Where there is none, because the process has no more of them or the kernel is older than 5.3, `poll` only passes the
/// time.
bool await_until(pid_t child, std::chrono::steady_clock::time_point deadline) {
  using std::chrono::milliseconds;
  const descriptor end(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));  // glibc 2.36 declares it for C only
  const milliseconds longest(end ? 60'000 : 5);
  while (!collect(child)) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= milliseconds(0)) return false;
    pollfd ended{end.get(), POLLIN, 0};
    ::poll(&ended, 1, static_cast<int>(std::min(left, longest).count()));
  }
  return true;
}

}  // namespace testcluster::detail
