#pragma once

#include <filesystem>

#include <sys/types.h>

#include "descriptor.hpp"

namespace testcluster::detail {

/// Makes sure that the servers do not outlive their owner. A small process leads the process group that the servers
/// join, and reads from a pipe whose other end only this object holds. When the owner ends, in whatever way, the kernel
/// closes that end, and the small process kills the group. PR_SET_PDEATHSIG is not enough, because it follows the
/// thread that started the child.
class guard {
 public:
  /// If the owner ends without running its destructors, `leftover` is removed as well; it may be empty.
  explicit guard(const std::filesystem::path& leftover);

  /// Kills all processes that are left in the group.
  ~guard();
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;

  pid_t group() const { return pid_; }

 private:
  descriptor lifeline_;
  pid_t pid_ = 0;
};

}  // namespace testcluster::detail
