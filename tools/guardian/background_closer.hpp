#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>

#include <sys/types.h>

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

}  // namespace guardian
