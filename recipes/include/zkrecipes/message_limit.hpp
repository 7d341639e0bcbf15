// How often a consumer calls `process`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/queue_types.hpp>
#include <zkrecipes/time_span.hpp>

namespace zkrecipes {

/// The limit of a `queue_consumer`, by the rule of a `limiter` (docs/recipes/limiter.md): over any window of the length
/// T the cost of the calls of `process` is `rate` x T / `per` + `burst` at most. Each call counts, further attempts
/// too. The time of a call is the moment at which its message is begun; a busy executor can run it later.
///
/// The bound holds across terms: a clean hand-over passes the credit that is left on to the successor, and a term that
/// was taken by force begins without credit. All consumers of one election should have the same limit; each shard of a
/// group has its own. docs/delivery.md tells what happens in each failure.
///
/// A message that waits for the limit is not begun: no attempt counts, and the end of a term does not wait for it.
/// Messages are begun in order of receipt, so a message of a high cost is not overtaken by those that come behind it
/// and could be begun. `message_outcome::hold_off` holds the limit off, too, and so reaches the successor.
struct message_limit {
  /// As in `limiter_options`, with the same bounds; it has to be set.
  std::uint64_t rate = 0;
  time_span<lease_clock::duration> per{std::chrono::seconds(1)};  ///< 1 us to 366 days.
  /// Most cost at once after a pause. 1 to 1 000 000 000; `burst` x `per` / `rate` is 366 days at most.
  std::uint64_t burst = 1;
  /// The cost of a call for this message: 0 (it does not wait for credit) to `burst`. A higher one counts as
  /// `burst`, because the message could never be begun. If the function throws, the cost is `burst`, too. It is called
  /// on the strand of the session when the message is next: once in a term, and again if others have written the
  /// message. It must not block. Not set: 1.
  std::function<std::uint64_t(const message&)> cost{};
};

}  // namespace zkrecipes
