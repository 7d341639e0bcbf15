// An owned file descriptor, and by which lane it is closed: one of its owner, or that of strangers.
#pragma once

#include <utility>

#include <sys/types.h>

#include <boost/system/error_code.hpp>

namespace guardian {

/// How a descriptor is closed: that of a stranger by the `background_closer`, for its user.
struct closing_lane {
  bool is_stranger_s = false;
  uid_t user = static_cast<uid_t>(-1);

  static closing_lane of(uid_t user) noexcept { return {true, user}; }

  /// Does not wait.
  void close(int descriptor) const noexcept;
  /// For an Asio socket or acceptor, which the other end finds closed at once.
  template <class Socket>
  void close(Socket& socket) const {
    boost::system::error_code error;
    socket.cancel(error);
    const int descriptor = socket.release(error);
    if (error) return;
    shut(descriptor);
    close(descriptor);
  }

 private:
  static void shut(int descriptor) noexcept;
};

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
