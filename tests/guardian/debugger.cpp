#include "guardian/debugger.hpp"

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string>

#include <sys/ptrace.h>
#include <sys/wait.h>

#include "guardian/child.hpp"

namespace guardian::test {

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

bool may_debug() {
  const child it([](const child::orders& orders) { orders.wait(); });
  try {
    const debugger attached(it.pid());
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace guardian::test
