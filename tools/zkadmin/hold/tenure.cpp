#include "hold/tenure.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tasks.hpp"
#include "line/line_spec.hpp"

namespace zkadmin {

namespace {

using namespace std::chrono_literals;

/// The parent of a process; 0: it has gone.
pid_t parent_process_of(pid_t which) {
  std::ifstream file("/proc/" + std::to_string(which) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const auto name_end = stat.rfind(')');  // the name may hold anything; behind it: " state parent ..."
  if (name_end == stat.npos || name_end + 4 > stat.size()) return 0;
  return static_cast<pid_t>(std::atoi(stat.c_str() + name_end + 4));
}

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> all;
  std::error_code error;
  for (std::filesystem::directory_iterator each("/proc", error), end; !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename();
    pid_t pid = 0;
    const auto [rest, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad == std::errc() && *rest == '\0') all.emplace(parent_process_of(pid), pid);
  }
  return all;
}

std::vector<std::pair<pid_t, pid_t>> descendants_with_parents() {
  const auto all = children_by_parent();
  std::vector<std::pair<pid_t, pid_t>> found;
  const auto add_children = [&](pid_t of) {
    for (auto [each, end] = all.equal_range(of); each != end; ++each) found.emplace_back(each->second, of);
  };
  add_children(::getpid());
  for (std::size_t i = 0; i < found.size(); ++i) add_children(found[i].first);
  return found;
}

/// In our process group, and SIGTSTP has its default action there but has not stopped it yet.
bool is_to_stop(pid_t which) {
  if (::getpgid(which) != ::getpgrp()) return false;
  std::ifstream file("/proc/" + std::to_string(which) + "/status");
  std::string name;
  std::string value;
  unsigned long long spared = 0;
  char state = 'X';
  while (file >> name && std::getline(file, value)) {
    if (name == "State:") state = value.at(value.find_first_not_of(" \t"));
    if (name == "SigBlk:" || name == "SigIgn:" || name == "SigCgt:") spared |= std::stoull(value, nullptr, 16);
  }
  const bool is_at_rest = state == 'T' || state == 't' || state == 'Z' || state == 'X';
  return !is_at_rest && (spared >> (SIGTSTP - 1) & 1) == 0;
}

/// False if it may not be signalled. A number that another process has got meanwhile is left alone, because that one
/// has another parent.
bool signal_child_of(pid_t parent, pid_t which, int number) {
  const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, which, 0));
  if (pidfd < 0) return true;
  const pid_t present = parent_process_of(which);
  bool is_allowed = true;
  if (present == parent || present == ::getpid())
    is_allowed = ::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0) == 0 || errno != EPERM;
  ::close(pidfd);
  return is_allowed;
}

/// Whether a child is left, after the ends of all others were taken.
bool is_any_left() {
  pid_t ended = 0;
  do ended = ::waitpid(-1, nullptr, WNOHANG);
  while (ended > 0);
  return ended == 0;
}

}  // namespace

void keep_descendants() noexcept { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<pid_t> descendants() {
  std::vector<pid_t> all;
  for (const auto& [which, parent] : descendants_with_parents()) all.push_back(which);
  return all;
}

pid_t signal_descendants(int number) {
  pid_t forbidden = 0;
  for (const auto& [which, parent] : descendants_with_parents())
    if (!signal_child_of(parent, which, number) && forbidden == 0) forbidden = which;
  return forbidden;
}

void wait_until_stopped() {
  if (::getsid(::getppid()) != ::getsid(0)) return;  // no shell could continue the group: the kernel does not stop it
  const auto deadline = std::chrono::steady_clock::now() + 2s;
  for (;;) {
    const auto all = descendants();
    if (std::none_of(all.begin(), all.end(), is_to_stop) || std::chrono::steady_clock::now() > deadline) return;
    std::this_thread::sleep_for(1ms);
  }
}

void kill_all_descendants() {
  const auto deadline = std::chrono::steady_clock::now() + 1s;
  bool is_told = false;
  while (is_any_left()) {
    signal_descendants(SIGKILL);
    std::this_thread::sleep_for(is_told ? 50ms : 2ms);
    if (is_told || std::chrono::steady_clock::now() < deadline) continue;
    is_told = true;
    const auto left = descendants();
    if (!left.empty()) std::cerr << "zkadmin: process " << left.front() << " does not end" << std::endl;
  }
}

boot_timer::boot_timer() : descriptor_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "timerfd_create");
}

boot_timer::~boot_timer() { ::close(descriptor_); }

void boot_timer::set(zkrecipes::lease_clock::time_point when) noexcept {
  using namespace std::chrono_literals;
  const auto since_boot = std::max<std::chrono::nanoseconds>(when.time_since_epoch(), 1ns);  // 0 would unset it
  itimerspec at{};
  at.it_value.tv_sec = since_boot / 1s;
  at.it_value.tv_nsec = (since_boot % 1s).count();
  ::timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &at, nullptr);
}

void boot_timer::clear() noexcept {
  const itimerspec never{};
  ::timerfd_settime(descriptor_, 0, &never, nullptr);
}

namespace asio = boost::asio;

alarm::alarm(asio::io_context& io) : expiry_(io, ::fcntl(timer_.descriptor(), F_DUPFD_CLOEXEC, 0)) {}

asio::awaitable<void> alarm::wait_until(zkrecipes::lease_clock::time_point when) {
  timer_.set(when);
  if (!is_rung_) co_await expiry_.async_wait(asio::posix::stream_descriptor::wait_read, as_result);
  is_rung_ = false;
}

void alarm::ring() {
  is_rung_ = true;
  expiry_.cancel();
}

namespace {

using namespace std::chrono_literals;
using zkrecipes::errc;

constexpr auto pause_between_kills = 5ms;
constexpr auto pause_if_in_vain = 100ms;
constexpr int kills_until_in_vain = 200;
constexpr std::chrono::milliseconds longest_grace = 1000h;

/// Killed processes need some time to end: a twentieth of the session's timeout. The lease's margin, a tenth, follows.
std::chrono::nanoseconds reserve_of(std::chrono::milliseconds session_timeout) {
  return std::clamp<std::chrono::nanoseconds>(session_timeout / 20, 20ms, 500ms);
}

}  // namespace

/// A lease that is prolonged in time still lasts for 0.35 of the timeout, less four round trips, when that happens: see
/// `lease_mode::strict`. Grace and reserve leave half of that to slow answers.
tenure::tenure(zkrecipes::session over, zkrecipes::ownership& held, tenure_limits with, alarm& wake,
               boot_timer& last_resort, message_hook say)
    : session_(std::move(over)),
      held_(held),
      grace_(with.grace),
      grace_at_loss_(std::min(with.grace, with.session_timeout / 8)),
      reserve_(reserve_of(with.session_timeout)),
      alarm_(wake),
      last_resort_(last_resort),
      say_(std::move(say)) {}

bool tenure::may_begin() const { return clock::now() < last_moment() - grace_at_loss_; }

void tenure::prepare() { last_resort_.set(last_moment() + reserve_ / 2); }

asio::awaitable<tenure_end> tenure::run(command_process& command) {
  listen();
  for (;;) {
    const bool is_any_left = command.take_ends();
    if (end_ == tenure_end::finished ? command.status().has_value() : !is_any_left) break;
    const auto present = clock::now();
    consider(present);
    kill_if_due(present);
    co_await alarm_.wait_until(next_look(present));
  }
  last_resort_.clear();
  co_return end_;
}

void tenure::abandon() {
  is_abandoned_ = true;
  alarm_.ring();
}

/// The handlers may be called when this has gone. The node tells how long the one that asks is ready to wait, counted
/// from when we are told.
void tenure::listen() {
  held_.async_lost([wake = &alarm_](const auto&) { wake->ring(); });
  held_.async_revoked([wake = &alarm_, seen = request_, over = session_, node = held_.path()](const auto& why) mutable {
    seen->is_there = why == errc::revoked;
    wake->ring();
    if (!seen->is_there) return;
    over.async_get(node, [wake, seen, told = clock::now()](const auto& error, const zkrecipes::node_data& read) {
      const auto grace = error ? longest_grace : zkrecipes::detail::grace_of(read.data);
      if (grace < longest_grace) seen->due = told + grace;
      wake->ring();
    });
  });
}

void tenure::consider(clock::time_point present) {
  const auto last = last_moment();
  if (present < last) prepare();
  if (end_ != tenure_end::finished) return;
  if (held_.error() == errc::revoked) {
    begin_to_end(tenure_end::asked, 0ns, "another client has asked for it, and the grace is over");
  } else if (held_.error()) {
    begin_to_end(tenure_end::lost, 0ns, reason_of_loss());
  } else if (request_->is_there) {
    begin_to_end(tenure_end::asked, grace_, "another client asks for it");
  } else if (present >= last - grace_at_loss_) {
    begin_to_end(tenure_end::lost, grace_at_loss_, reason_of_loss());
  } else if (is_abandoned_) {
    begin_to_end(tenure_end::abandoned, grace_, "zkadmin was killed");
  }
}

void tenure::begin_to_end(tenure_end why, std::chrono::nanoseconds grace, const std::string& reason) {
  end_ = why;
  kill_at_ = clock::now() + grace;
  if (grace > 0ns) {
    signal_descendants(SIGTERM);
    signal_descendants(SIGCONT);  // one that is stopped would not see it
  }
  say_(reason + ": the command is ended");
}

void tenure::kill_if_due(clock::time_point present) {
  if (end_ == tenure_end::finished || present < kill_time()) return;
  const pid_t forbidden = signal_descendants(SIGKILL);
  if (forbidden != 0 && !std::exchange(is_forbidden_, true))
    say_("process " + std::to_string(forbidden) + " has other rights and can not be killed");
  if (++kills_ != kills_until_in_vain) return;
  const auto left = descendants();
  if (!left.empty()) say_("process " + std::to_string(left.front()) + " does not end");
}

/// When nothing of the command may be left, as far as we know now.
tenure::clock::time_point tenure::last_moment() const { return held_.valid_until() - reserve_; }

/// Once it is to end.
tenure::clock::time_point tenure::kill_time() const {
  const auto taken_at = request_->due.value_or(clock::time_point::max());
  return std::min({kill_at_, last_moment(), taken_at - reserve_});
}

tenure::clock::time_point tenure::next_look(clock::time_point present) const {
  if (kills_ > 0) return present + (kills_ < kills_until_in_vain ? pause_between_kills : pause_if_in_vain);
  return end_ == tenure_end::finished ? last_moment() - grace_at_loss_ : kill_time();
}

std::string tenure::reason_of_loss() const {
  const auto error = held_.error();
  return error ? error.message()
               : "no server has confirmed in time that the session, and with it the lock, still lives";
}

}  // namespace zkadmin
