// How a consumer works off its queue.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <zkrecipes/message_duplicates.hpp>
#include <zkrecipes/message_limit.hpp>
#include <zkrecipes/message_repeats.hpp>
#include <zkrecipes/queue_types.hpp>

namespace zkrecipes {

/// The promise for the effects of a message. docs/guarantees.md has a row for each.
enum class delivery_guarantee {
  /// The effects in ZooKeeper and the removal of the message are one fenced transaction: they happen once.
  effectively_once,
  /// The effects are elsewhere: `process` returns none (an outcome with effects fails), and the message is removed
  /// afterwards. It can be processed again after a crash, a hand-over that was cut short, or a lost lease.
  at_least_once,
  /// The message is removed before it is processed, and `process` returns no effects. A failed attempt loses it: there
  /// are no further attempts, and no dead letter. A crash or the end of a term loses up to `window` messages that were
  /// removed and not begun, or not finished.
  at_most_once,
};

/// What must be done before a message is begun.
enum class message_order {
  strict,  ///< All messages in front of it. With a `window` above 1 they may not be committed yet.
  by_key,  ///< The messages of its key in front of it; they have been committed.
  none,    ///< Nothing.
};

/// What happens to a message whose attempts are used up.
enum class spent_message {
  /// It becomes a dead letter, and the next one comes. The letter of a message from outside ZooKeeper that is larger
  /// than a request may be is cut: see `dead_letter::missing_bytes`.
  park,
  /// As `park`, and the messages of its key that come behind it become dead letters, too, without being processed,
  /// until `queue_base::async_revive_key` puts all of them back in order. So also with `message_outcome::park`. Only
  /// with `message_order::by_key`, and not with `at_most_once`. All consumers of the queue should have the same `key`;
  /// those with order by key obey the parking whatever their `spent` says.
  park_key,
  stop_the_run,  ///< The run of the coordinator ends with `career_failed`; the message stays in the queue.
};

/// When a message is processed again after a failed attempt: an exception, effects that were refused,
/// `message_outcome::again`, or a process that died or hung over it.
struct message_retry {
  /// Pause after the first failed attempt. Each further pause is `factor` times as long, up to `longest`. 0 to 24 h;
  /// `longest` is at least as long.
  std::chrono::milliseconds first{1'000};
  std::chrono::milliseconds longest{600'000};
  double factor = 2;    ///< 1 to 100.
  double jitter = 0.2;  ///< Each pause is shorter by up to this share of it, at random. 0 to 1.
  /// After this many failed attempts the message is spent. The servers keep the count, also across hand-overs and
  /// crashes; of sources other than a queue in ZooKeeper for 100 messages at a time. 1 to 100.
  std::int32_t attempts = 8;
  /// While attempts at different messages fail and none succeeds, the consumer holds off: it tries one message at a
  /// time, at most every few seconds, and an attempt counts only once in this time. So a dependency that is away makes
  /// no dead letters, and messages that can never succeed do not stop the others for ever. 0 to 24 h; 0: it does not
  /// hold off, and each attempt counts.
  std::chrono::milliseconds outage{600'000};
};

/// Settings of a `queue_consumer`.
struct queue_consumer_options {
  delivery_guarantee delivery = delivery_guarantee::effectively_once;
  message_order order = message_order::strict;
  /// The key of a message, for `message_order::by_key`: needed there, unless there are `repeats`. It is called on the
  /// strand of the session for each message that was read, and should return the same for a message each time. It must
  /// not block, and not kill its process, because no message is named yet. If it throws, the message has the empty key.
  std::function<std::string(const message&)> key{};
  /// Most messages that are begun and not committed yet. 1: a message is begun when the one before is committed. As
  /// many are read ahead, at least 2. 1 to 10 000.
  std::size_t window = 1;
  /// Most calls of `process` at the same time; they share a strand. Strict order has one. 1 to `window`.
  std::size_t parallel = 1;
  message_retry retry{};
  spent_message spent = spent_message::park;
  /// Declines messages that ask for work which is about to be done. Only with `message_order::by_key`, a `window` of 3
  /// or more, and not with `at_most_once`. Not set: every message is processed.
  std::optional<message_duplicates> duplicates{};
  /// How often `process` is called, over all terms. A declined message costs nothing. Not with `at_most_once`, because
  /// a message that has been removed must not wait. Not set: as often as there are messages.
  std::optional<message_limit> limit{};
  /// Acknowledges what a producer has put twice without processing it. Only with a `queue` or a topic, strict order or
  /// order by key, without `key`, which is the name of the producer then, and without `duplicates`. Not with
  /// `at_most_once`. Not set: every message is processed.
  std::optional<message_repeats> repeats{};
};

}  // namespace zkrecipes
