#include "hold/hold.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <ostream>
#include <system_error>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.hpp"
#include "hold/command_process.hpp"
#include "hold/keeper.hpp"
#include "hold/tenure.hpp"
#include "settings/values.hpp"

namespace zkadmin {
namespace {

// The process that the shell knows.

/// Passes signals on to the keeper, stops and continues with the terminal's job, and ends with the keeper's exit
/// status. If the keeper is killed, or does not set the last resort later in time, kills it and everything below.
class front {
 public:
  /// `line`: the socket to the keeper. The references have to outlive the front.
  front(pid_t keeper, int line, const boot_timer& last_resort, const inherited_signals& signals);
  ~front();
  front(const front&) = delete;

  /// Returns the exit status.
  int run();

 private:
  void wait_for_end();
  void pass_on(const signalfd_siginfo& got);
  void forward(int number, bool is_of_terminal) const;
  void kill_keeper() const;
  int end(int status) const;

  pid_t keeper_;
  int line_;
  const boot_timer& last_resort_;
  int signals_;
  int keeper_pidfd_;
  bool is_interrupted_ = false;
};

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

std::string default_id() {
  std::array<char, 200> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return std::string(host.data()) + ":" + std::to_string(::getpid());
}

std::array<int, 2> make_line() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  return ends;
}

int run_keeper(surroundings& around, const settings& wanted, const std::string& path, const hold_options& how,
               const keeper_start& start) {
  ::prctl(PR_SET_NAME, "zkadmin keeper", 0, 0, 0);
  ::setpgid(0, 0);
  keep_descendants();
  start.signals.ignore();
  return keeper(around, wanted, path, how, start).run();
}

int run_both(surroundings& around, const settings& wanted, const std::string& path, const hold_options& how) {
  using boost::asio::execution_context;
  const inherited_signals signals;
  boost::asio::io_context& io = around.io;
  boot_timer last_resort;
  const auto [ours, theirs] = make_line();
  const pid_t group = ::getpgrp();
  keep_descendants();
  io.notify_fork(execution_context::fork_prepare);
  const pid_t keeper = ::fork();
  if (keeper < 0) throw std::system_error(errno, std::generic_category(), "fork");
  io.notify_fork(keeper == 0 ? execution_context::fork_child : execution_context::fork_parent);
  ::close(keeper == 0 ? ours : theirs);
  if (keeper == 0) return run_keeper(around, wanted, path, how, {theirs, group, signals, last_resort});
  return front(keeper, ours, last_resort, signals).run();
}

}  // namespace

/// A mistake of the user keeps its own status. That of every other failure differs from those of most commands.
int hold(surroundings& around, const settings& wanted, const std::string& path, hold_options how) {
  const auto checked = parse_path_argument(path);
  if (how.id.empty()) how.id = default_id();
  try {
    return run_both(around, wanted, checked, how);
  } catch (const failure& error) {
    if (error.code() == exit_code::usage) throw;
    around.err << "zkadmin: " << error.what() << std::endl;
  } catch (const std::exception& error) {
    around.err << "zkadmin: unexpected: " << printable(error.what()) << std::endl;
  }
  return to_int(hold_status::failed);
}

}  // namespace zkadmin
