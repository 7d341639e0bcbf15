// A child process that does not outlive us, and a temporary folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace demo {

/// A temporary folder of its own, which the destructor removes.
class scratch {
 public:
  scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch();

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

class process {
 public:
  process() = default;
  /// Runs `program` with `arguments`. \throws std::system_error
  process(const std::string& program, const std::vector<std::string>& arguments);
  process(process&& other) noexcept;
  process& operator=(process&& other) noexcept;
  ~process();  ///< SIGKILL, if it still runs.

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  /// Stops it, and waits until nothing of it runs any more. False: it has ended instead.
  bool pause() const;
  /// Whether it runs no more; `wait` then returns at once.
  bool has_ended() const;
  /// Exit status, or 128 + signal.
  int wait();

 private:
  pid_t pid_ = 0;
};

/// To be called first in a child: the kernel then kills the child with SIGKILL as soon as `parent` ends.
void die_with_parent(pid_t parent);

/// Path of a program that lies beside this one.
std::string beside(const std::string& name);

}  // namespace demo
