#pragma once

#include "descriptor.hpp"

#include <sys/types.h>

#include <filesystem>

namespace testcluster::detail {

/// Makes sure that the servers do not outlive their owner. A small process leads the group that they join and
/// reads from a pipe whose other end only this object holds: when the owner ends, in whatever way, the kernel
/// closes that end, and the guard kills the group. (PR_SET_PDEATHSIG would not do: it follows the thread that
/// started the child.)
class guard {
 public:
  /// `leftover` is removed as well if the owner ends without its destructors; may be empty.
  explicit guard(const std::filesystem::path& leftover);

  /// Kills whatever is left in the group.
  ~guard();
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;

  pid_t group() const { return pid_; }

 private:
  descriptor lifeline_;
  pid_t pid_ = 0;
};

}  // namespace testcluster::detail
