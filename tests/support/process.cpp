#include "support/process.hpp"

#include <filesystem>
#include <iterator>
#include <thread>

namespace zkrecipes::test {

namespace fs = std::filesystem;

bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // polls: other threads and processes do not notify us
  }
  return true;
}

std::size_t thread_count() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
}

std::set<std::string> open_descriptors() {
  std::set<std::string> found;
  for (const auto& each : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    auto target = fs::read_symlink(each.path(), gone).string();
    if (!gone && target.find("/proc/") != 0) found.insert(each.path().filename().string() + ' ' + target);
  }
  return found;
}

}  // namespace zkrecipes::test
