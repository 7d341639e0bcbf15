#include "hold/front.hpp"

#include <cerrno>
#include <csignal>
#include <iostream>
#include <system_error>

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hold/hold.hpp"
#include "hold/signals.hpp"
#include "hold/tenure.hpp"

namespace zkadmin {
namespace {

int checked(int descriptor, const char* what) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), what);
  return descriptor;
}

/// As a process that does not block this signal. Does not return if the signal ends the process.
void suffer(int number) {
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, number);
  std::signal(number, SIG_DFL);
  ::raise(number);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::sigprocmask(SIG_BLOCK, &only, nullptr);
}

/// The kernel sends these to all processes of the terminal's job. Others, as SIGHUP when the terminal goes and SIGALRM
/// when a timer expires, it sends to this process alone.
bool is_of_terminal(const signalfd_siginfo& got) {
  const int number = static_cast<int>(got.ssi_signo);
  const bool is_sent_to_job = number == SIGINT || number == SIGQUIT || number == SIGTSTP || number == SIGWINCH;
  return is_sent_to_job && got.ssi_code > 0;
}

}  // namespace

front::front(pid_t keeper, int line, const boot_timer& last_resort, const inherited_signals& signals)
    : keeper_(keeper),
      line_(line),
      last_resort_(last_resort),
      signals_(checked(::signalfd(-1, &signals.passed_on(), SFD_CLOEXEC | SFD_NONBLOCK), "signalfd")),
      keeper_pidfd_(checked(static_cast<int>(::syscall(SYS_pidfd_open, keeper, 0)), "pidfd_open")) {}

front::~front() {
  ::close(signals_);
  ::close(keeper_pidfd_);
}

int front::run() {
  wait_for_end();
  int status = 0;
  while (::waitpid(keeper_, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status)) return end(WEXITSTATUS(status));
  kill_all_descendants();
  std::cerr << "zkadmin: the process that kept the session was killed; the command has been ended" << std::endl;
  return to_int(hold_status::lost);
}

void front::wait_for_end() {
  pollfd all[] = {{keeper_pidfd_, POLLIN, 0}, {last_resort_.descriptor(), POLLIN, 0}, {signals_, POLLIN, 0}};
  auto& [keeper_end, last_resort, signals] = all;
  for (;;) {
    const int ready = ::poll(all, std::size(all), -1);
    if (ready < 0 && errno != EINTR) kill_keeper();
    if (ready <= 0) continue;
    signalfd_siginfo got{};
    if (signals.revents != 0 && ::read(signals_, &got, sizeof got) == sizeof got) pass_on(got);
    if (keeper_end.revents != 0) return;
    if (last_resort.revents != 0) {
      kill_keeper();
      last_resort.fd = -1;
    }
  }
}

/// Other programs than the terminal name one process, or the group; then the command gets the signal twice.
void front::pass_on(const signalfd_siginfo& got) {
  const int number = static_cast<int>(got.ssi_signo);
  forward(number, is_of_terminal(got));
  if (number == SIGINT) is_interrupted_ = true;
  if (number != SIGTSTP) return;
  // A command that still reads the terminal would take the line that its user types to the shell.
  if (is_of_terminal(got)) wait_until_stopped();
  suffer(number);
  forward(SIGCONT, false);  // the kernel does not stop a group that no shell could continue, and sends it no SIGCONT
}

void front::forward(int number, bool is_of_terminal) const {
  const passed_signal told{static_cast<unsigned char>(number), is_of_terminal};
  ::send(line_, &told, sizeof told, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void front::kill_keeper() const { ::syscall(SYS_pidfd_send_signal, keeper_pidfd_, SIGKILL, nullptr, 0); }

/// A shell script goes on after ctrl-c if what it has called ends with an exit status, and stops if the signal has
/// ended it.
int front::end(int status) const {
  if (is_interrupted_ && status == to_int(hold_status::by_signal) + SIGINT) suffer(SIGINT);
  return status;
}

}  // namespace zkadmin
