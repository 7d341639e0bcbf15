#include "hold/command_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hold/hold.hpp"

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

namespace {

std::vector<char*> null_terminated(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const auto& each : texts) all.push_back(const_cast<char*>(each.c_str()));
  all.push_back(nullptr);
  return all;
}

/// SIGCONT is blocked, so one that has come already is not missed, as it would be by a process that stops itself.
void wait_for_continuation() {
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, SIGCONT);
  int number = 0;
  ::sigwait(&only, &number);
}

/// In the child. Only what is allowed between `fork` and `exec` of a process with threads.
[[noreturn]] void execute(const command_plan& plan, char* const* words, char* const* environment, pid_t parent,
                          int report) {
  ::setpgid(0, plan.group);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::_exit(to_int(hold_status::cannot_run));  // it has ended before it was asked to tell
  if (plan.is_stopped) wait_for_continuation();
  plan.signals.restore();
  ::execvpe(words[0], words, environment);
  const int error = errno;
  if (::write(report, &error, sizeof error) < 0) ::_exit(to_int(hold_status::cannot_run));
  ::_exit(to_int(error == ENOENT ? hold_status::not_found : hold_status::cannot_run));
}

}  // namespace

command_process::command_process(const command_plan& plan) {
  const auto words = null_terminated(plan.words);
  const auto variables = null_terminated(plan.environment);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t parent = ::getpid();
  // This process ignores them. The child gets what is sent to it meanwhile when it has restored their treatment.
  auto kept = plan.signals.passed_on();
  ::sigaddset(&kept, SIGCONT);
  sigset_t blocked;
  ::sigprocmask(SIG_BLOCK, &kept, &blocked);
  pid_ = ::fork();
  if (pid_ == 0) execute(plan, words.data(), variables.data(), parent, ends[1]);
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  if (pid_ > 0) ::setpgid(pid_, plan.group);  // before it can be sent a signal; the child may not have come so far
  ::close(ends[1]);
  report_ = ends[0];
  if (pid_ > 0) return;
  ::close(report_);
  throw std::system_error(error, std::generic_category(), "fork");
}

command_process::~command_process() { ::close(report_); }

bool command_process::take_ends() {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (ended == pid_ && !status_) keep_status(status);
    if (ended > 0 || (ended < 0 && errno == EINTR)) continue;
    return ended == 0;
  }
}

void command_process::keep_status(int status) {
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : to_int(hold_status::by_signal) + WTERMSIG(status);
  int error = 0;
  ::fcntl(report_, F_SETFL, O_NONBLOCK);
  if (::read(report_, &error, sizeof error) == static_cast<ssize_t>(sizeof error)) execution_error_ = error;
}

void command_process::send(int signal) const noexcept {
  if (!status_) ::kill(pid_, signal);
}

}  // namespace zkadmin
