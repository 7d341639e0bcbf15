// A child process that reads commands and writes answers, one per line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace zkrecipes::test {

class line_process {
 public:
  /// Starts the program. It also ends when this process ends, because its standard input is a socket of ours.
  line_process(std::string name, const std::vector<std::string>& command);
  line_process(const line_process&) = delete;
  line_process& operator=(const line_process&) = delete;
  ~line_process();

  const std::string& name() const noexcept { return name_; }
  pid_t pid() const noexcept { return pid_; }

  void tell(const std::string& command);
  /// The answer to the oldest unanswered command, if it has arrived.
  /// \throws std::runtime_error if the process has ended.
  std::optional<std::string> answer();

 private:
  std::string name_;
  pid_t pid_ = 0;
  int socket_ = -1;
  std::string received_;
};

}  // namespace zkrecipes::test
