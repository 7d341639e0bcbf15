// The children that this process has started and has not taken the end of.
#pragma once

#include <mutex>
#include <vector>

namespace zkrecipes::backend {

/// No signal handler and no thread is needed for them: the ends of earlier ones are taken before the next one is
/// started, so at most those stay as zombies that have ended since. By pidfd, because a program may take the ends of
/// all its children itself, and the number of one of them may then be that of a child that is not ours. Safe from every
/// thread.
class started_processes {
 public:
  /// Takes the pidfd.
  void add(int pidfd);
  void take_ends();

 private:
  std::mutex mutex_;
  std::vector<int> pidfds_;
};

}  // namespace zkrecipes::backend
