#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/error.hpp>

namespace zkrecipes::backend {

/// The addresses of a host as the system knows it, as numbers; or why there are none.
struct host_answer {
  std::string host;
  std::vector<std::string> addresses;
  error_code error;
  std::chrono::steady_clock::time_point when = std::chrono::steady_clock::now();
};

/// Where the threads that look hosts up leave their answers. It outlives who reads them, because nobody can end such a
/// thread. From any thread.
class lookup_mailbox {
 public:
  lookup_mailbox();
  ~lookup_mailbox();
  lookup_mailbox(const lookup_mailbox&) = delete;

  /// Can be read when there is an answer; below zero: the process has no descriptor left.
  int descriptor() const noexcept { return descriptor_; }
  void put(host_answer what);
  std::vector<host_answer> take();

 private:
  int descriptor_;
  std::mutex mutex_;
  std::vector<host_answer> answers_;
};

}  // namespace zkrecipes::backend
