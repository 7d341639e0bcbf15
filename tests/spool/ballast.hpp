// Fills a file system.
#pragma once

#include <array>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace zkrecipes::test {

/// A file that takes all the room that is left beside it.
class ballast {
 public:
  explicit ballast(const std::string& folder) : file_(std::filesystem::path(folder) / "ballast") {}
  ballast(const ballast&) = delete;
  ballast& operator=(const ballast&) = delete;
  ~ballast() { remove(); }

  bool is_there() const noexcept { return is_there_; }
  void fill() {
    const int file = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    constexpr std::array<char, 4096> block{};
    while (write(file, block.data(), block.size()) > 0) {
    }
    close(file);
    is_there_ = true;
  }
  void remove() {
    if (is_there_) std::filesystem::remove(file_);
    is_there_ = false;
  }

 private:
  std::filesystem::path file_;
  bool is_there_ = false;
};

}  // namespace zkrecipes::test
