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

#include "format/shown_text.hpp"

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

const char* to_string(log_severity severity) noexcept {
  switch (severity) {
    case log_severity::debug: return "debug";
    case log_severity::info: return "info";
    case log_severity::warning: return "warning";
    case log_severity::error: return "error";
  }
  return "?";
}

const char* to_string(session_event event) noexcept {
  switch (event) {
    case session_event::name_not_resolved: return "name_not_resolved";
    case session_event::connect_failed: return "connect_failed";
    case session_event::waiting_for_answer: return "waiting_for_answer";
    case session_event::connected: return "connected";
    case session_event::server_changed: return "server_changed";
    case session_event::connection_lost: return "connection_lost";
    case session_event::incarnation_begun: return "incarnation_begun";
    case session_event::incarnation_ended: return "incarnation_ended";
    case session_event::lease_lapsed: return "lease_lapsed";
    case session_event::out_of_memory: return "out_of_memory";
    case session_event::authentication_failed: return "authentication_failed";
    case session_event::root_missing: return "root_missing";
    case session_event::root_closed: return "root_closed";
    case session_event::operation_failed: return "operation_failed";
    case session_event::guarded: return "guarded";
    case session_event::unguarded: return "unguarded";
    case session_event::closed: return "closed";
    case session_event::certificates_reloaded: return "certificates_reloaded";
    case session_event::certificates_unusable: return "certificates_unusable";
    case session_event::change_untold: return "change_untold";
    case session_event::set_back: return "set_back";
    case session_event::term_begun: return "term_begun";
    case session_event::consumer_goes_on: return "consumer_goes_on";
  }
  return "?";
}

std::string to_string(const log_event& event) {
  std::string line = to_string(event.event);
  for (const auto part : {event.server, event.operation, event.path}) {
    if (!part.empty()) line.append(" ").append(part);
  }
  // What has no writes, such as an attempt to connect, has a detail that says more.
  const bool says_more = event.error == errc::connection_loss && !event.detail.empty();
  const auto error = event.error && !says_more ? event.error.message() : std::string();
  if (!error.empty() && error != line) line.append(": ").append(error);  // not "closed: closed"
  if (!event.detail.empty()) line.append(" (").append(event.detail).append(")");
  return detail::coded_text(line);
}

}  // namespace zkrecipes
