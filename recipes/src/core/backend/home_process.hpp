// What a process shares with a child of `fork`.
#pragma once

#include <sys/types.h>
#include <unistd.h>

namespace zkrecipes::backend {

/// The process that has made a connection. The copy of a child that was forked is the same socket: what is said or shut
/// down there, the maker's peer hears, and an epoll that both have forgets it for both.
class home_process {
 public:
  /// In a child nothing may be sent: not even what destructors send, such as the removal of a watch.
  bool is_elsewhere() const noexcept { return pid_ != ::getpid(); }
  /// Before the connection is ended. Elsewhere than at home a socket that is connected to nobody takes the place of
  /// this descriptor: whatever is done then happens to that.
  void detach_elsewhere(int descriptor) const noexcept;

 private:
  pid_t pid_ = ::getpid();
};

}  // namespace zkrecipes::backend
