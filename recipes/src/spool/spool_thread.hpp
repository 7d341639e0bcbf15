// The one thread that works with the file of a spooled producer.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "spool/spool_file.hpp"

namespace zkrecipes::detail {

/// Owns the file and gives it to jobs only, one after the other, on its own thread. Thread safety: safe.
class spool_thread {
 public:
  using job = std::function<void(spool_file&)>;

  explicit spool_thread(spool_file_settings settings);
  ~spool_thread() { stop(); }
  spool_thread(const spool_thread&) = delete;
  spool_thread& operator=(const spool_thread&) = delete;

  void run(job next);
  /// Waits for the job under way, drops the others, closes the file and ends the thread. Not from a job.
  void stop() noexcept;

 private:
  void work();
  bool take(job& next);

  spool_file_settings settings_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> jobs_;
  bool is_stopped_ = false;
  std::mutex joining_;
  std::thread thread_;
};

}  // namespace zkrecipes::detail
