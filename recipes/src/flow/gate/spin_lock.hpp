// A lock of one byte, for sections of a few dozen nanoseconds.
#pragma once

#include <atomic>
#include <thread>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace zkrecipes::detail {

class spin_lock {
 public:
  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  /// Only looks while another thread has the lock, so that the cache line stays shared. The thread that has it may be
  /// suspended; then this one gives its processor away.
  void wait() const noexcept {
    for (int looks = 0; held_.load(std::memory_order_relaxed); ++looks) {
      if (looks < 100) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
  }
  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#endif
  }

  std::atomic<bool> held_ = false;
};

}  // namespace zkrecipes::detail
