// A career that works off a queue.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/consumer/message_feed.hpp>
#include <zkrecipes/consumer/message_outcome.hpp>
#include <zkrecipes/flow/keep.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/queue_base.hpp>

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

/// The messages that have to be done before a message is begun.
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

/// The counters begin with the object and go on from term to term; the other figures are of the present term. They are
/// read from memory, and may be a moment old.
struct queue_consumer_status {
  std::uint64_t received = 0;     ///< Messages that were read, each once in a term (again if its key was revived).
  std::uint64_t done = 0;         ///< Messages that were processed and acknowledged.
  std::uint64_t again = 0;        ///< Failed attempts.
  std::uint64_t parked = 0;       ///< Messages that became dead letters.
  std::uint64_t passed_over = 0;  ///< Messages that another client removed: their effects did not happen.
  std::uint64_t lost = 0;         ///< At most once: messages that were removed, and whose only attempt has failed.
  std::uint64_t declined = 0;     ///< Messages that were acknowledged unprocessed: `message_duplicates`.
  std::uint64_t repeated = 0;     ///< Messages that were acknowledged unprocessed: `message_repeats`.
  std::uint64_t forgotten = 0;    ///< Producers whose marks were dropped: `message_repeats::most_producers`.
  std::uint64_t evicted = 0;      ///< Calls that were given up: `message_duplicates::safety`. They are in `again`, too.
  std::uint64_t waited = 0;       ///< Calls that were made after a wait for `message_limit`.
  std::uint64_t commits = 0;      ///< Transactions that settled messages.
  std::uint64_t refused = 0;      ///< Transactions that were refused because of one message, and made again without it.
  std::size_t in_hand = 0;        ///< Messages that are being processed.
  std::size_t finished = 0;       ///< Messages that are processed, or declined, and not committed yet.
  std::size_t held_back = 0;      ///< Messages that wait for another one of their key (or, in strict order, for any).
  std::size_t resting = 0;        ///< Messages that wait for their next attempt.
  std::size_t limited = 0;        ///< Messages that could be begun, and wait for `message_limit`.
  std::size_t last_commit = 0;    ///< Messages in the last transaction.
  std::string held_off{};         ///< Why nothing but probes is begun: `message_retry::outage`. Empty: it is not so.
  /// The age of the oldest message in hand: since it was put, by this machine's clock and that of the servers or the
  /// broker; at least since it came here.
  std::chrono::milliseconds oldest{0};

  friend bool operator==(const queue_consumer_status&, const queue_consumer_status&) = default;
};

namespace detail {
struct delivery_frame;
}

/// Implemented by the user: while we lead, `process` is called with the messages of a queue. The effects that it
/// returns, the removal of the message and the check that no newer term has begun are one transaction, so effects kept
/// in ZooKeeper happen once (`delivery_guarantee::effectively_once`). For effects elsewhere, pass `term::token()` and
/// `message::name` to the store. docs/delivery.md tells what happens to a message in each failure.
///
/// A message whose processing fails does not end the run: it is tried again as `message_retry` says, and then becomes a
/// dead letter of its queue (`queue_base::async_dead_letters`, `async_revive`). An attempt fails by an exception, by
/// `message_outcome::again`, if the effects are refused, if it takes longer than `career_traits::stall_limit`, or if
/// the process dies of it. A message that another client removes while we work on it is passed over, without effects.
/// The time spent waiting for a message does not count as work (`career_traits::stall_limit`).
///
/// Where effects of several messages of a commit set the same path without a version, and nothing else in the commit
/// touches it, only the last set is sent: its data stands there afterwards, and its version has grown by one.
///
/// When the term is to end, messages that are being processed are finished and committed. Those that only wait for
/// their next attempt are left to the successor, which tries them at once. Thread safety: `status` safe; the career is
/// called on one strand.
class queue_consumer : public leader_career {
 public:
  /// `from`: a `queue`, a `priority_queue` or a `delay_queue`. It should have no other takers: the consumer reads it
  /// without claims. Its session has to be that of the coordinator: else the run ends with `career_failed`.
  /// \throws std::invalid_argument naming the bad option, or if `from` was made by default.
  explicit queue_consumer(const queue_base& from, queue_consumer_options options = {});
  /// `from`: the messages of a shard of a topic (`topic::feed`). No message leaves the topic; the position of the group
  /// moves in the same transaction as the effects, and dead letters are those of the group. With order by key and no
  /// function `key`, the key is that with which a message was put. `spent_message::park_key` is not supported.
  /// \throws std::invalid_argument naming the bad option, or if `from` was made by default, or
  /// another consumer has it.
  explicit queue_consumer(const message_feed& from, queue_consumer_options options = {});
  ~queue_consumer() override;
  queue_consumer(const queue_consumer&) = delete;
  queue_consumer& operator=(const queue_consumer&) = delete;

  /// Processes one message; `message::attempts` is 1 at the first attempt. With `queue_consumer_options::parallel`
  /// calls overlap on one strand. A call that is cancelled (`terminal`) should end soon; its outcome does not count.
  virtual boost::asio::awaitable<message_outcome> process(term present, const message& item) = 0;

  boost::asio::awaitable<void> inaugurate(term present) override;
  boost::asio::awaitable<void> hand_over(term present, term_end reason) override;
  boost::asio::awaitable<void> execute(term present) final;

  /// What was done, and what is in hand. No request is sent, and the work is not stopped.
  queue_consumer_status status() const;
  const queue_consumer_options& options() const noexcept;

 private:
  session queue_session_;
  std::shared_ptr<detail::delivery_frame> frame_;
};

}  // namespace zkrecipes
