// How a consumer treats messages that ask for the same work.
#pragma once

#include <chrono>

#include <zkrecipes/keep.hpp>
#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// Duplicate suppression in a `queue_consumer`, by the rules of a `gate` (docs/recipes/gate.md): of the messages of a
/// key the first one is processed, one more waits, and the others are *declined*: they are acknowledged without being
/// processed, because the processing of the one that waits begins later and does their work. docs/delivery.md tells
/// what that is worth in each failure.
///
/// The key is that of `message_order::by_key`. Messages with the empty key, such as those whose key function throws,
/// are never declined, and none is declined because of them.
struct message_duplicates {
  /// Which one of two waits. `newest` is for messages that carry data of which only the newest counts.
  zkrecipes::keep keep = zkrecipes::keep::first;
  /// A call of `process` that takes longer than this, counted from its start, while another message of its key waits is
  /// given up: it is cancelled (`terminal`), its outcome does not count, and the attempt has failed. The message is
  /// tried again in front of the one that waits, so the calls overlap if the first one does not end. More than 0; the
  /// maximum: no limit.
  time_budget safety = std::chrono::seconds(30);
};

}  // namespace zkrecipes
