// A worker process in one of the languages, and what it answers.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace interop {

class peer {
 public:
  /// Starts the program. It ends when we do: its standard input is a socket of ours.
  peer(std::string name, const std::vector<std::string>& command);
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;
  ~peer();

  const std::string& name() const noexcept { return name_; }

  void tell(const std::string& command);
  /// The answer to the oldest command that has not been answered yet, if it is there. \throws
  /// std::runtime_error when the process has ended.
  std::optional<std::string> answer();

 private:
  std::string name_;
  pid_t pid_ = 0;
  int socket_ = -1;
  std::string received_;
};

}  // namespace interop
