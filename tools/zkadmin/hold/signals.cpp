#include "hold/signals.hpp"

namespace zkadmin {
namespace {

void (*treatment_of_broken_pipes)(int) = SIG_DFL;

constexpr int candidates[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGWINCH, SIGCONT};
/// A process in the background that uses the terminal all the same is stopped by them.
constexpr int of_the_terminal[] = {SIGTTIN, SIGTTOU};

bool is_ignored(int number) noexcept {
  struct sigaction present {};
  return ::sigaction(number, nullptr, &present) == 0 && present.sa_handler == SIG_IGN;
}

}  // namespace

void ignore_broken_pipes() noexcept { treatment_of_broken_pipes = std::signal(SIGPIPE, SIG_IGN); }

inherited_signals::inherited_signals() {
  ::sigemptyset(&passed_on_);
  for (const int each : candidates)
    if (!is_ignored(each)) ::sigaddset(&passed_on_, each);
  ::sigprocmask(SIG_BLOCK, &passed_on_, &blocked_);
  std::signal(SIGCHLD, SIG_DFL);  // while it is ignored, no end of a child can be waited for
}

void inherited_signals::ignore() const noexcept {
  for (const int each : candidates) std::signal(each, SIG_IGN);
  for (const int each : of_the_terminal) std::signal(each, SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &blocked_, nullptr);
}

void inherited_signals::restore() const noexcept {
  for (const int each : candidates)
    if (::sigismember(&passed_on_, each) == 1) std::signal(each, SIG_DFL);
  for (const int each : of_the_terminal) std::signal(each, SIG_DFL);
  std::signal(SIGPIPE, treatment_of_broken_pipes);
  ::sigprocmask(SIG_SETMASK, &blocked_, nullptr);
}

}  // namespace zkadmin
