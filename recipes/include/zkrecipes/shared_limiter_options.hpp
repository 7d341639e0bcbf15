// Settings of a limiter that processes share.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/time_span.hpp>

namespace zkrecipes {

/// Settings of a `shared_limiter`. Over any window of the length T all processes together let through a cost of `rate`
/// x T / `per` + `burst` at most. All of them must have the same `slices`. The other fields should be the same, too:
/// while they differ, each process uses its part of its own rate and burst, so the largest of them bound the sum.
struct shared_limiter_options {
  /// Our name. It stays the same over restarts, and no other process that shares the limit has it at the same time. 1
  /// to 256 bytes, no control characters.
  std::string id{};
  /// Cost that all processes together let through in each `per`, 1 to 1 000 000 000; it has to be set.
  std::uint64_t rate = 0;
  /// 1 us to 24 h.
  time_span<lease_clock::duration> per{std::chrono::seconds(1)};
  /// The number of slices into which the rate is cut; a slice is a shard of a group, and has one owner. At least four
  /// for each process makes the shares nearly equal. Each slice that moves costs some writes. 1 to 10 000.
  std::uint32_t slices = 64;
  /// Most cost that all processes together let through at once after a pause. It is divided among the slices, so it is
  /// at least `slices`, and the largest cost of one call is `burst` / `slices`, rounded down. 0: as many as `slices`.
  /// Up to 1 000 000 000. The time after which a whole burst has come back, `burst` x `per` / `rate`, is 24 h at most.
  std::uint64_t burst = 0;
  /// Our share of the slices is this number divided by the sum over all processes. 0.001 to 1 000, in steps of 0.001.
  double capacity = 1;
  /// For how long our slices wait for us after `stop`, unused, because we may be starting again under the same id. 0:
  /// they are given to others at once. Up to 24 h.
  std::chrono::milliseconds grace{0};
};

}  // namespace zkrecipes
