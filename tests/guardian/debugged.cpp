// Processes that a debugger holds: they live, and their sessions with them.
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian/child.hpp"
#include "guardian/twice_guarded.hpp"

using namespace guardian;
using namespace guardian::test;

namespace {

/// Holds one thread. All calls come from the thread that made the debugger. The held thread goes on without a debugger
/// when the program of the test has ended.
class debugger {
 public:
  /// \throws std::runtime_error: it may not be attached.
  explicit debugger(pid_t thread);

  /// Returns when the thread has stopped.
  void interrupt() const;
  /// Waits until the thread stops before a signal, which is returned.
  int wait_for_signal() const;
  /// Without the signal that the thread has stopped before.
  void go_on() const;
  /// A debugged thread has not ended before its debugger knows it. Does nothing if the debugger does. Not for the first
  /// thread of a process.
  void wait_for_end() const;

 private:
  int wait() const;

  pid_t thread_;
};

debugger::debugger(pid_t thread) : thread_(thread) {
  if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
    throw std::runtime_error("thread " + std::to_string(thread) + " may not be debugged");
  }
}

int debugger::wait() const {
  int status = 0;
  if (::waitpid(thread_, &status, __WALL) != thread_) throw std::runtime_error("no such thread");
  return status;
}

void debugger::interrupt() const {
  ::ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr);
  if (!WIFSTOPPED(wait())) throw std::runtime_error("it has ended");
}

int debugger::wait_for_signal() const {
  const auto status = wait();
  return WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
}

void debugger::go_on() const {
  if (::ptrace(PTRACE_CONT, thread_, nullptr, nullptr) != 0) throw std::runtime_error("it is not stopped");
}

void debugger::wait_for_end() const {
  int status = 0;
  while (::waitpid(thread_, &status, __WALL) == thread_ && WIFSTOPPED(status)) {
  }
}

/// Whether this process may debug its children: containers can forbid it.
bool may_debug() {
  const child it([](const child::orders& orders) { orders.wait(); });
  try {
    const debugger attached(it.pid());
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

boost::test_tools::assertion_result if_allowed(boost::unit_test::test_unit_id) { return may_debug(); }

void say_that_it_goes_on(const child::orders& orders) {
  orders.report('a');
  orders.wait();
}

/// The first thread ends, and another one goes on.
void leave_it_to_a_thread(const child::orders& orders) {
  std::thread([orders] {
    orders.report('t');
    while (orders.wait() != 0) orders.report('a');
  }).detach();
  ::syscall(SYS_exit, 0);  // of this thread only; its objects stay
}

/// A thread of the process other than its first one.
pid_t other_thread(pid_t process) {
  for (const auto& each : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    const auto number = std::stoi(each.path().filename().string());
    if (number != process) return number;
  }
  throw std::runtime_error("no other thread");
}

struct debugged_case : twice_guarded {
  static constexpr std::int64_t processes = 100;

  /// A process can not end before the debugger knows the end of its threads, whatever the test has found.
  ~debugged_case() {
    if (!holds_threads) return;
    signal_all(SIGKILL);
    record_ends_of_threads();
  }
  void debug_all() {
    for (const auto& each : leaders) debuggers.emplace_back(each->pid());
  }
  void interrupt_all() {
    for (const auto& each : debuggers) each.interrupt();
  }
  /// What the debuggers have held was the living process, and no more than that.
  void let_go_on() {
    for (const auto& each : debuggers) each.go_on();
    order_all();
    run_until_all_reported('a');
  }
  void populate_with_threads(std::int64_t count) {
    populate(count, leave_it_to_a_thread);
    order_all();
    run_until_all_reported('t');
    for (const auto& each : leaders) debuggers.emplace_back(other_thread(each->pid()));
    holds_threads = true;
  }
  void record_ends_of_threads() {
    for (const auto& each : debuggers) each.wait_for_end();
  }

  std::vector<debugger> debuggers;
  bool holds_threads = false;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(debugged, debugged_case, *boost::unit_test::precondition(if_allowed))

BOOST_AUTO_TEST_CASE(interrupted) {
  populate(processes, say_that_it_goes_on);
  debug_all();
  interrupt_all();
  check_lives();
  let_go_on();
  check_lives();
  signal_all(SIGKILL);
  check_deaths();
}

BOOST_AUTO_TEST_CASE(killed_while_interrupted) {
  populate(processes, say_that_it_goes_on);
  debug_all();
  interrupt_all();
  check_lives();
  signal_all(SIGKILL);
  check_deaths();
}

BOOST_AUTO_TEST_CASE(stopped_before_a_signal_that_would_end_it) {
  populate(processes, say_that_it_goes_on);
  debug_all();
  const std::vector<int> numbers{SIGSEGV, SIGABRT, SIGTERM, SIGTRAP, SIGSTOP};
  for (std::size_t i = 0; i < leaders.size(); ++i) {
    const auto number = numbers[i % numbers.size()];
    leaders[i]->signal(number);
    BOOST_TEST_REQUIRE(debuggers[i].wait_for_signal() == number);
  }
  check_lives();
  let_go_on();
  signal_all(SIGKILL);
  check_deaths();
}

BOOST_AUTO_TEST_CASE(the_first_thread_has_ended_and_the_other_one_is_interrupted) {
  populate_with_threads(processes);
  interrupt_all();
  check_lives();
  let_go_on();
  signal_all(SIGKILL);
  record_ends_of_threads();
  check_deaths();
}

BOOST_AUTO_TEST_CASE(a_death_before_its_pidfd_tells_it_is_seen_on_request_only) {
  populate_with_threads(1);
  interrupt_all();
  check_lives();
  signal_all(SIGKILL);  // the debugger does not know it yet, so the process has not quite ended
  run_until([&] { return ended_early.size() == others + 1; }, "the early proof");
  run_until_lines_have_ended();
  run_for(4 * look_every);
  BOOST_TEST(ended.size() == others, "by default the guardian waits for the pidfd");
  BOOST_TEST(guard->held().session_count() == 1u);
  BOOST_TEST(has_logged("proof=exiting"));
  record_ends_of_threads();
  check_deaths();
}

BOOST_AUTO_TEST_SUITE_END()
