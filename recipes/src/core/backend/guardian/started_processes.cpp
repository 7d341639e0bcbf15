#include "backend/guardian/started_processes.hpp"

#include <cerrno>

#include <sys/wait.h>
#include <unistd.h>

namespace zkrecipes::backend {

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

}  // namespace zkrecipes::backend
