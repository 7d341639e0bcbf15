// How a consumer recognises what a producer has put twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <zkrecipes/queue_types.hpp>

namespace zkrecipes {

/// The number that a producer has given to a message.
struct message_origin {
  std::string producer{};  ///< 1 to 255 bytes.
  std::uint64_t number = 0;
  friend bool operator==(const message_origin&, const message_origin&) = default;
};

/// Suppression of repeats in a `queue_consumer`: the messages of a producer are numbered, and one may be in the source
/// more than once. The consumer keeps, in ZooKeeper, which numbers of each producer have committed effects. A message
/// with such a number is acknowledged without being processed. The numbers are noted in the transaction that commits
/// the effects, so with `effectively_once` no crash and no hand-over makes the effects of a number happen twice, or
/// loses them; `process` itself can be called again, as for any message. Nothing whose number was not processed is
/// acknowledged as a repeat: not a dead letter that is revived, and not a number that was skipped.
///
/// Only with `message_order::strict` or `by_key`; there the name of the producer is the key, and `key` must not be set.
/// Producers number without gaps (1, 2, 3 ...), and give no number to two different messages: a producer that may lose
/// its counter and begin at 1 again needs a new name, because its new messages would be acknowledged as repeats. With
/// gaps nothing is lost, but a repeat that is older than the last 64 gaps is processed again. Each shard of a topic has
/// marks of its own, so there a producer numbers without gaps in each shard: all its messages have one key, or `origin`
/// returns a name for each of its keys. A repeat has the key of the first. All consumers of a queue, or of a group of a
/// topic, need this option with the same `origin` and `most_producers`: a number that another one has processed is not
/// noted. docs/delivery.md tells what happens in each failure.
///
/// Cost: one read when the work of a term begins, and one more write in each commit that processes a numbered message;
/// no round trip, but for the first of these commits of a shard and a group, which makes the folder. The write contains
/// the marks of all producers.
struct message_repeats {
  /// Reads producer and number from a message; it has to be set. Nothing: the message is not numbered and is always
  /// processed. If it throws, or the name has a bad length, the message becomes a dead letter. It is called on the
  /// strand of the session, more than once for a message, and should return the same each time. It must not block.
  std::function<std::optional<message_origin>(const message&)> origin{};
  /// Most producers whose marks are kept: 1 to 1 000. It must exceed the number of producers that are active. The one
  /// whose mark has not moved for longest is forgotten first, also if the marks would take more than 32 KiB. What a
  /// forgotten producer repeats is processed again.
  std::size_t most_producers = 1'000;
};

}  // namespace zkrecipes
