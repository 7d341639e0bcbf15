#include "spool/spool_thread.hpp"

#include <utility>

#include <pthread.h>
#include <signal.h>

namespace zkrecipes::detail {

namespace {

/// Signals of the process are for the threads of the program.
class blocked_signals {
 public:
  blocked_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~blocked_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

spool_thread::spool_thread(spool_file_settings settings) : settings_(std::move(settings)) {
  const blocked_signals while_it_starts;
  thread_ = std::thread([this] { work(); });
}

void spool_thread::run(job next) {
  {
    std::lock_guard lock(mutex_);
    if (!is_stopped_) jobs_.push_back(std::move(next));
  }
  changed_.notify_one();
}

void spool_thread::stop() noexcept {
  std::deque<job> dropped;
  {
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
    dropped.swap(jobs_);
  }
  changed_.notify_one();
  std::lock_guard lock(joining_);
  if (thread_.joinable()) thread_.join();
}

void spool_thread::work() {
  spool_file file(settings_);
  for (job next; take(next); next = nullptr) next(file);
}

bool spool_thread::take(job& next) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_stopped_ || !jobs_.empty(); });
  if (jobs_.empty()) return false;
  next = std::move(jobs_.front());
  jobs_.pop_front();
  return true;
}

}  // namespace zkrecipes::detail
