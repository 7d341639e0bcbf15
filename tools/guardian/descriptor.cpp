#include "descriptor.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace guardian {

namespace {

constexpr std::size_t size_of_stack = 128 << 10;  // all memory is locked, so a stack of the usual 8 MiB would be, too

bool start_detached(void* (*work)(void*), void* with) noexcept {
  pthread_attr_t how;
  if (::pthread_attr_init(&how) != 0) return false;
  ::pthread_attr_setstacksize(&how, size_of_stack);
  ::pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the main thread
  pthread_t made;
  const bool is_made = ::pthread_create(&made, &how, work, with) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&how);
  return is_made;
}

/// Takes the place of a descriptor that is being closed, so that its number is not used again before that has ended.
/// It is opened at the start: later there may be no descriptor left. It is none of the standard ones.
int open_nothing() noexcept {
  const int opened = ::open("/dev/null", O_PATH | O_CLOEXEC);
  const int made = ::fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::close(opened);
  return made;
}
const int nothing = open_nothing();

/// The file that is to be closed is in the table. `fstat` could wait for who serves the file.
bool is_in_table(int descriptor) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_PATH) == 0;
}

}  // namespace

background_closer& background_closer::of_process() noexcept {
  static auto& only = *new background_closer;  // its threads can outlive `main`
  return only;
}

/// Without a thread, for want of memory for example, it stays open until the next one is closed.
void background_closer::close(uid_t user, int descriptor) noexcept {
  try {
    std::lock_guard lock(mutex_);
    auto& of = lanes_[user];
    of.waiting.push_back(descriptor);
    if (!of.is_working && threads_ < most_threads) start_thread();
  } catch (const std::exception&) {
    ::close(descriptor);
  }
}

std::size_t background_closer::pending(uid_t user) const {
  std::lock_guard lock(mutex_);
  const auto of = lanes_.find(user);
  return of == lanes_.end() ? 0 : of->second.waiting.size();
}

void background_closer::start_thread() noexcept {
  ++threads_;
  if (!start_detached(&run, this)) --threads_;
}

void* background_closer::run(void* whose) noexcept {
  static_cast<background_closer*>(whose)->work();
  return nullptr;
}

background_closer::lanes::iterator background_closer::next() {
  return std::ranges::find_if(lanes_, [](const auto& each) { return !each.second.is_working; });
}

/// A descriptor counts until it has been closed.
void background_closer::work() noexcept {
  std::unique_lock lock(mutex_);
  for (auto mine = next(); mine != lanes_.end(); mine = next()) {
    auto& of = mine->second;
    of.is_working = true;
    while (!of.waiting.empty()) {
      changed_.wait(lock, [this] { return pauses_ == 0; });
      const int first = of.waiting.front();
      of.is_closing = true;
      lock.unlock();
      ::dup3(nothing, first, O_CLOEXEC);  // which can wait
      ::close(first);
      lock.lock();
      of.is_closing = false;
      of.waiting.pop_front();
    }
    lanes_.erase(mine);
  }
  --threads_;
}

/// A file leaves the table at the beginning of the call that replaces its descriptor, however long that takes then.
background_closer::pause::pause() {
  auto& all = of_process();
  std::unique_lock lock(all.mutex_);
  ++all.pauses_;
  const auto is_under_way = [](const auto& each) {
    return each.second.is_closing && is_in_table(each.second.waiting.front());
  };
  while (std::ranges::any_of(all.lanes_, is_under_way)) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

background_closer::pause::~pause() {
  auto& all = of_process();
  std::lock_guard lock(all.mutex_);
  if (--all.pauses_ == 0) all.changed_.notify_all();
}

void closing_lane::close(int descriptor) const noexcept {
  if (is_stranger_s) {
    background_closer::of_process().close(user, descriptor);
  } else {
    ::close(descriptor);
  }
}

void closing_lane::shut(int descriptor) noexcept { ::shutdown(descriptor, SHUT_RDWR); }

}  // namespace guardian
