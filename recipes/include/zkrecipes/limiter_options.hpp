// Settings of a limiter.
#pragma once

#include <chrono>
#include <cstdint>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/time_span.hpp>

namespace zkrecipes {

/// Settings of a `limiter`. Over any window of the length T it lets through a cost of `rate` x T / `per` + `burst` at
/// most.
struct limiter_options {
  /// Cost that is let through in each `per`, 1 to 1 000 000 000; it has to be set. The time for a cost of 1, which is
  /// `per` / `rate`, is rounded up to an eighth of a nanosecond. So very high rates become a little lower: about 10^6 a
  /// second by 0.013 percent at most, about 10^8 a second by 1.3 percent.
  std::uint64_t rate = 0;
  /// 1 us to 366 days.
  time_span<lease_clock::duration> per{std::chrono::seconds(1)};
  /// Most cost that is let through at once after a pause, and the largest cost of one call. 1 to 1 000 000 000. The
  /// time after which a whole burst has come back, `burst` x `per` / `rate`, is 366 days at most.
  std::uint64_t burst = 1;
  /// After a clean hand-over: what `limiter::take_level` of the predecessor has told. 0 to 732 days and 1 s. The time
  /// between the two calls does not count, so less is let through, never more.
  time_span<lease_clock::duration> level{lease_clock::duration::zero()};
  /// After a forced hand-over: the limiter begins without any credit, as if the predecessor had used all of it until
  /// this moment. What it was told by `hold_off` is lost.
  bool start_empty = false;
};

}  // namespace zkrecipes
