// A worker that is killed, and the numbers that it noted.
#pragma once

#include <chrono>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // NOLINT

namespace zkrecipes::test {

class killed_process {
 public:
  explicit killed_process(std::vector<std::string> command) {
    std::vector<char*> words;
    for (auto& each : command) words.push_back(each.data());
    words.push_back(nullptr);
    if (posix_spawn(&pid_, words[0], nullptr, nullptr, words.data(), environ) != 0) {
      throw std::runtime_error("can not start " + command[0]);
    }
  }
  killed_process(const killed_process&) = delete;
  killed_process& operator=(const killed_process&) = delete;
  ~killed_process() {
    if (pid_ > 0) end();
  }

  /// SIGKILL.
  void end() {
    kill(pid_, SIGKILL);
    wait();
  }
  /// Waits for its end, and returns how it ended.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  bool has_ended() {
    int status = 0;
    if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) pid_ = 0;
    return pid_ == 0;
  }

 private:
  pid_t pid_ = 0;
};

/// The numbers in a file, one in a line.
class noted_numbers {
 public:
  explicit noted_numbers(std::string file) : file_(std::move(file)) {}

  /// Reads what was noted since the last look.
  std::size_t look() {
    std::ifstream in(file_);
    in.seekg(at_);
    for (std::string line; std::getline(in, line) && !in.eof(); at_ += static_cast<long>(line.size()) + 1) {
      all_.push_back(std::stoll(line));
    }
    return all_.size();
  }
  const std::vector<long long>& all() const noexcept { return all_; }

 private:
  std::string file_;
  long at_ = 0;
  std::vector<long long> all_;
};

}  // namespace zkrecipes::test
