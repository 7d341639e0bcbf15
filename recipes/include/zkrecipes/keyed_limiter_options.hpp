// Settings of a keyed limiter.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <zkrecipes/keep.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/time_span.hpp>

namespace zkrecipes {

/// Settings of a `keyed_limiter`. Over any window of the length T it lets `rate` x T / `per` + `burst` calls of each
/// key through at most.
struct keyed_limiter_options {
  /// Calls of one key that are let through in each `per`, 1 to 1 000 000 000; it has to be set. See
  /// `limiter_options::rate`.
  std::uint64_t rate = 0;
  /// 1 us to 366 days.
  time_span<lease_clock::duration> per{std::chrono::seconds(1)};
  /// Most calls of one key that are let through at once after a pause. 1 to 1 000 000 000. The time after which a whole
  /// burst has come back, `burst` x `per` / `rate`, is 366 days at most.
  std::uint64_t burst = 1;
  /// Which one waits if another one of its key comes: see `keep`. The others are declined. Nothing: all of them wait.
  std::optional<keep> coalesce = std::nullopt;
  /// Most keys that are remembered, 1 to 100 000 000; a key needs about 150 bytes and its length. A key whose credit
  /// has come back is forgotten first. If there is none, the key whose credit comes back next is forgotten, and has all
  /// its credit too early: `keyed_limiter_statistics::evicted`. Keys on which somebody waits are never forgotten, and
  /// may exceed this number. From 2 048 keys on the table has parts, up to 64, with an equal share of this number each.
  /// A part that is full forgets one of its own keys.
  std::size_t most_keys = 1'000'000;
  /// After a hand-over: each key begins without any credit, as if the predecessor had used all of it until this moment.
  bool start_empty = false;
};

}  // namespace zkrecipes
