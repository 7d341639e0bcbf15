// A timer of the kernel on the clock of leases.
#pragma once

#include <zkrecipes/lease_clock.hpp>

namespace zkadmin {

/// Its descriptor is readable from the time on that it was set to. Processes that have inherited it share it: one sets
/// it, another one waits. The time of a suspended machine counts.
class boot_timer {
 public:
  /// \throws std::system_error
  boot_timer();
  ~boot_timer();
  boot_timer(const boot_timer&) = delete;

  void set(zkrecipes::lease_clock::time_point when) noexcept;
  void clear() noexcept;
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace zkadmin
