#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <zkrecipes/log.hpp>

namespace zkrecipes {

namespace {

using clock = std::chrono::steady_clock;

constexpr auto told_again_after = std::chrono::seconds(30);
constexpr std::size_t most_kinds = 100;
constexpr std::size_t longest_line = 1'000;  // a pipe takes a line of this length whole, or is not ready for it

/// `write` to standard error without the signal SIGPIPE, which would end the process: the reader of a pipe can leave
/// between `poll` and the call, too.
ssize_t write_without_signal(const std::string& line) {
  sigset_t broken_pipe, before, pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigpending(&pending);
  if (::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before) != 0) return -1;
  const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  if (written < 0 && errno == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
    constexpr timespec at_once{};
    ::sigtimedwait(&broken_pipe, nullptr, &at_once);  // that of our call, which is for this thread alone
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return written;
}

class folded_log {
 public:
  void add(const log_event& event) {
    auto kind = event;
    kind.path = kind.detail = {};
    const std::lock_guard lock(mutex_);
    if (told_.size() >= most_kinds) told_.clear();
    auto& before = told_[to_string(kind)];
    const auto now = clock::now();
    const bool is_first = before.when == clock::time_point();
    if (!is_first && now - before.when < told_again_after) return void(++before.left_out);
    auto line = "zkrecipes " + std::string(to_string(event.severity)) + ": " + to_string(event);
    if (before.left_out > 0) line += ", " + std::to_string(before.left_out) + " more of this kind before it";
    line.resize(std::min(line.size(), longest_line));
    if (!write(line + '\n')) return void(++before.left_out);
    before = {now, 0};
  }

 private:
  struct entry {
    clock::time_point when{};
    std::size_t left_out = 0;
  };

  /// Waits for nobody who does not read, and sends no SIGPIPE where nobody can.
  static bool write(const std::string& line) {
    pollfd standard_error{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&standard_error, 1, 0) != 1 || standard_error.revents != POLLOUT) return false;
    return write_without_signal(line) >= 0;
  }

  std::mutex mutex_;
  std::map<std::string, entry> told_;
};

}  // namespace

void log_to_stderr(const log_event& event) noexcept {
  if (event.severity < log_severity::warning) return;
  try {
    static auto& all = *new folded_log;  // sessions that end behind the end of `main` tell it, too
    all.add(event);
  } catch (...) {  // no memory
  }
}

}  // namespace zkrecipes
