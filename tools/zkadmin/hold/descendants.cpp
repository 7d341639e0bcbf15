#include "hold/descendants.hpp"

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
#include <thread>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zkadmin {
namespace {

using namespace std::chrono_literals;

/// The parent of a process; 0: it has gone.
pid_t parent_of(pid_t which) {
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
    if (bad == std::errc() && *rest == '\0') all.emplace(parent_of(pid), pid);
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
  const pid_t present = parent_of(which);
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

}  // namespace zkadmin
