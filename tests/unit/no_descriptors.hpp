#pragma once

#include <cstddef>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace zkrecipes::test {

/// While this object lives the process can open only `spare` more descriptors.
class no_descriptors {
 public:
  explicit no_descriptors(std::size_t spare) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int highest = ::dup(0);
    auto now = before_;
    now.rlim_cur = static_cast<rlim_t>(highest) + 8;
    ::setrlimit(RLIMIT_NOFILE, &now);
    filling_.push_back(highest);
    for (int each = ::dup(0); each >= 0; each = ::dup(0)) filling_.push_back(each);
    for (; spare > 0; --spare) close_one();
  }
  no_descriptors(const no_descriptors&) = delete;
  ~no_descriptors() {
    while (!filling_.empty()) close_one();
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  void close_one() {
    ::close(filling_.back());
    filling_.pop_back();
  }
  rlimit before_{};
  std::vector<int> filling_;
};

}  // namespace zkrecipes::test
