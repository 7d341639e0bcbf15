// Want of descriptors.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

namespace zkrecipes::test {

/// While it lives, only so many descriptors can be opened.
class few_descriptors {
 public:
  explicit few_descriptors(int count) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    int last = 0;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
      last = std::max(last, std::stoi(each.path().filename()));
    }
    while (others_.empty() || others_.back() < last) others_.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlimit few{static_cast<rlim_t>(others_.back() + 1 + count), before_.rlim_max};
    BOOST_TEST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  few_descriptors(const few_descriptors&) = delete;
  few_descriptors& operator=(const few_descriptors&) = delete;
  ~few_descriptors() {
    ::setrlimit(RLIMIT_NOFILE, &before_);
    for (const int each : others_) ::close(each);
  }

 private:
  rlimit before_{};
  std::vector<int> others_;
};

}  // namespace zkrecipes::test
