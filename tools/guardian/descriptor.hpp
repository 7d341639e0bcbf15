// An owned file descriptor, and by which lane it is closed: one of its owner, or that of strangers.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include <sys/types.h>

#include <boost/system/error_code.hpp>

namespace guardian {

/// Closes descriptors of strangers on threads of its own. `close` can wait for as long as the one likes who made the
/// file: a socket with SO_LINGER, or a file of a FUSE file system. The guardian may be the last who has it. Threads end
/// when there is nothing to close; one works for one user at a time. Thread safety: safe.
class background_closer {
 public:
  /// For all users together.
  static constexpr std::size_t most_threads = 64;

  /// The process has one, as it has one table of descriptors.
  static background_closer& of_process() noexcept;

  void close(uid_t user, int descriptor) noexcept;
  /// How many of the user are not closed yet.
  std::size_t pending(uid_t user) const;

  /// While it lives no descriptor disappears, so that a child that is being made is not the last who has one: the
  /// guardian waits until the child executes its program.
  class pause {
   public:
    pause();
    pause(const pause&) = delete;
    pause& operator=(const pause&) = delete;
    ~pause();
  };

 private:
  struct lane {
    std::deque<int> waiting;
    bool is_working = false;
    bool is_closing = false;  // the first one, which may have left the table already
  };
  using lanes = std::map<uid_t, lane>;

  static void* run(void* whose) noexcept;
  void start_thread() noexcept;
  void work() noexcept;
  lanes::iterator next();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  lanes lanes_;
  std::size_t threads_ = 0;
  int pauses_ = 0;
};

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
