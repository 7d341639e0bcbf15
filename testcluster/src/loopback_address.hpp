#pragma once

#include <string>
#include <utility>

#include <unistd.h>

namespace testcluster::detail {

/// Owns a file descriptor.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { reset(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void reset() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

/// A random address of 127.0.0.0/8 that no other user of this class has, in any process. The lease is an abstract unix
/// socket named after the address: binding it is atomic, and the kernel releases it however the holder ends. On an
/// address of its own every port is free, so there is no search for a free port and no race for it.
class loopback_address {
 public:
  loopback_address();
  const std::string& text() const { return text_; }

 private:
  bool lease(const std::string& candidate);
  std::string text_;
  descriptor lease_;
};

}  // namespace testcluster::detail
