// A file whose last writes a power failure takes.
#pragma once

#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace zkrecipes::test {

/// Knows what of a file is on the disk, and what was done to it since its last sync.
class unreliable_file {
 public:
  /// It is there: as it is, it is on the disk, unless it is known already.
  void record_opened(const std::string& path) {
    if (std::exchange(is_there_, true)) return;
    std::ifstream in(path, std::ios::binary);
    on_disk_.assign(std::istreambuf_iterator<char>(in), {});
  }
  void record_removed() { *this = unreliable_file(); }
  void handle_write(std::size_t at, std::string data) { since_.push_back({at, std::move(data), false}); }
  void record_truncation(std::size_t size) { since_.push_back({size, {}, true}); }

  void sync() {
    for (const auto& each : std::exchange(since_, {})) apply(each);
  }
  /// As Linux does it: what could not be written counts as written, so no later sync brings it to the disk. A part may
  /// have been written: the first changes, or some here and there.
  void fail_sync(std::mt19937& random) {
    const bool is_in_order = random() % 2;
    auto left = is_in_order && !since_.empty() ? random() % since_.size() : 0;
    for (const auto& each : std::exchange(since_, {})) {
      const bool is_written = is_in_order ? left > 0 : random() % 2;
      if (is_written) apply(each);
      if (left > 0) --left;
    }
  }
  /// The disk wrote some of what was not synced by itself.
  void lose_power(const std::string& path, std::mt19937& random) {
    if (!is_there_) return;
    fail_sync(random);
    std::ofstream(path, std::ios::binary) << on_disk_;
  }

 private:
  struct change {
    std::size_t at;
    std::string data;
    bool is_truncation;
  };
  void apply(const change& one) {
    if (one.is_truncation) return on_disk_.resize(one.at);
    if (on_disk_.size() < one.at + one.data.size()) on_disk_.resize(one.at + one.data.size());
    on_disk_.replace(one.at, one.data.size(), one.data);
  }

  bool is_there_ = false;
  std::string on_disk_;
  std::vector<change> since_;
};

}  // namespace zkrecipes::test
