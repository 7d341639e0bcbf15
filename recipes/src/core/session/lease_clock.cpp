#include <time.h>

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

lease_clock::time_point lease_clock::now() noexcept {
  timespec present{};
  ::clock_gettime(CLOCK_BOOTTIME, &present);  // CLOCK_MONOTONIC stands still while the machine is suspended
  return time_point(std::chrono::seconds(present.tv_sec) + std::chrono::nanoseconds(present.tv_nsec));
}

}  // namespace zkrecipes
