#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace testcluster::detail {

struct spawn_options {
  std::vector<std::string> command;            // the program is looked up in PATH
  pid_t group = 0;                             // process group to join; 0: lead a new one
  int input = -1;                              // becomes its standard input; -1: /dev/null
  std::filesystem::path output = "/dev/null";  // appended to
  std::filesystem::path working_directory = "/";
  std::vector<std::string> environment{};  // NAME=value, nothing else; empty: that of this process
};

/// Starts a program that inherits only what is named above: no other descriptor, no blocked or ignored signal. Safe in
/// a process with threads. Throws std::system_error.
pid_t spawn(const spawn_options& options);

/// Whether a child has ended; if so, collects it.
bool collect(pid_t child);

/// Waits until a child has ended, and collects it.
void await(pid_t child);

/// The same, until this time. False: it has not ended.
bool await_until(pid_t child, std::chrono::steady_clock::time_point deadline);

}  // namespace testcluster::detail
