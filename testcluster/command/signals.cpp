#include "signals.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <poll.h>
#include <unistd.h>

#include <testcluster/error.hpp>

namespace testcluster::command {

signals::signals(bool user) {
  ::signal(SIGCHLD, SIG_DFL);  // ignored, it would take the status of children away
  sigset_t wanted;
  ::sigemptyset(&wanted);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) ::sigaddset(&wanted, number);
  if (user) {
    for (int number : {SIGUSR1, SIGUSR2}) ::sigaddset(&wanted, number);
  }
  ::sigprocmask(SIG_BLOCK, &wanted, &before_);
  descriptor_ = detail::descriptor(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_) throw error(std::string("signalfd: ") + std::strerror(errno));
}

// A signal that has arrived and was not read would be delivered now, and end the process with a status of its own.
signals::~signals() {
  while (next()) {
  }
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<signalfd_siginfo> signals::next() {
  signalfd_siginfo found{};
  if (::read(descriptor_.get(), &found, sizeof found) != static_cast<ssize_t>(sizeof found)) return std::nullopt;
  return found;
}

int signals::wait_until(std::chrono::steady_clock::time_point deadline) {
  using std::chrono::milliseconds;
  while (true) {
    while (const auto found = next())
      if (found->ssi_signo != SIGCHLD) return static_cast<int>(found->ssi_signo);
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= milliseconds(0)) return 0;
    pollfd arrived{descriptor_.get(), POLLIN, 0};
    ::poll(&arrived, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
  }
}

}  // namespace testcluster::command
