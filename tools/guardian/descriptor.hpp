#pragma once

#include <utility>

#include "closing_lane.hpp"

namespace guardian {

/// Owns a file descriptor.
class descriptor {
 public:
  /// `by`: who closes it, if it is a stranger's.
  explicit descriptor(int number = -1, closing_lane by = {}) noexcept : number_(number), by_(by) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)), by_(other.by_) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(by_, other.by_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) by_.close(number_);
  }

  explicit operator bool() const noexcept { return number_ >= 0; }
  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
  closing_lane by_;
};

}  // namespace guardian
