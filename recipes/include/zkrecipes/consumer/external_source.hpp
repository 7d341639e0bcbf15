// A source of the user's for consumers: a log with positions, or a queue with acknowledgements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/message_feed.hpp>
#include <zkrecipes/consumer/source_base.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/session_options.hpp>

namespace zkrecipes {

/// Settings of `external_source`.
struct external_options {
  /// Tells this source from others: the topic or the table that the messages come from. Written to the path by the
  /// first that uses it, and the same for all from then on. 1 to 256 bytes without control characters.
  std::string source{};
  /// Parts of the source that are consumed on their own, each in order. Written to the path as well. 1 to 10 000.
  std::uint32_t shards = 1;
  /// Most messages of a shard that were received and are not settled. They are kept in memory with their data, twice
  /// while they are in the window of the consumer, so all shards of one object have 64 MiB of them, shared equally by
  /// those that read, or one message each. Fewer if their ids are long: those have 128 KiB together, with 32 bytes more
  /// for each. While there is no room, nothing is received; nor, in a log, while the ids of what is settled behind a
  /// message that is not take 384 KiB. 1 to 2 000. Nothing: 500 in strict order, else 1 000, because those behind a
  /// resting key are in hand, too; and `remembered` at most.
  std::optional<std::size_t> in_hand{};
  /// Queues only: the ids of so many settled messages are remembered, those settled last. Each commit writes them all,
  /// so 1 000 ids of 36 bytes cost 39 kB a commit. Fewer if they are long: they have 384 KiB together. A message that
  /// is delivered again after its id was forgotten is processed again. `in_hand` to 10 000.
  std::size_t remembered = 1'000;
  /// Pauses before a source that has reported an error is opened again (`limit` does not count here). They double and
  /// vary by +-50 % at random, and begin anew when messages have come.
  retry_policy retry{};
};

/// A message of an `external_log` or an `external_queue`.
struct external_message {
  /// Unique in its shard, and the same each time the message comes: `message::name`. In a log it is also the place
  /// behind which `external_log::open` goes on. 1 to 256 bytes without control characters.
  std::string id{};
  std::string key{};  ///< `message::key`.
  std::string data{};
  std::int64_t timestamp = 0;  ///< When it was put, in milliseconds since 1970 (`node_stat::ctime`); 0: not known.
};

/// The result of `receive`.
struct external_batch {
  error_code error{};  ///< The source is closed, and opened again after a pause; the messages count all the same.
  std::vector<external_message> messages{};
};

/// Implemented by the user: one shard of a log, such as a partition or a table with growing numbers. Its messages have
/// an order, which is the same each time it is read, and stay when they are consumed. The position of a group is kept
/// in ZooKeeper, and moves in the same transaction as the effects: so effects in ZooKeeper happen once, although the
/// log knows nothing of it. `external_source::feed` makes a feed of it; docs/own-source.md has an example.
///
/// The functions are called on a strand of the session's executor (`session::get_executor`), and must not block the
/// thread. `open` and `close` take turns, beginning with `open`, and nothing else is called beside them. In between,
/// `consumed` may be called while `receive` waits; no function is called again before its last call has ended.
///
/// An error that a function completes with is told to the log of the session. The log is closed then, and opened again
/// after a pause, for as long as the term lasts. An exception ends the run of the consumer with `career_failed`.
///
/// Cancellation: when the term ends, or when the group is moved, calls that run are cancelled (`terminal`), and `close`
/// is called when they have ended. They should end soon; with what result does not matter, and an exception is no
/// failure then. What such a call of `receive` had taken comes again after the next `open`.
class external_log {
 public:
  virtual ~external_log() = default;

  /// For logs and error texts, such as "partition 7 of orders". Asked once, when the feed is made. Logs and errors show
  /// 1 000 bytes of it, and of the text of an exception, with U+FFFD for what a terminal does not show as itself.
  virtual std::string name() const = 0;

  /// From here on `receive` brings the messages behind this place, which is the id of a message that was received, by
  /// this object or by one of another process. It need not be there any more. Empty: from the first that is there. A
  /// log that has lost the place, and can not say what comes behind it, throws.
  virtual boost::asio::awaitable<error_code> open(std::string place) = 0;

  /// Waits for a message, and completes with up to `most` (1 or more), in order. Each message comes once after `open`.
  /// A log that completes without a message and without an error is asked again at once, so it has to wait itself. More
  /// than `most` end the run, as an exception does.
  virtual boost::asio::awaitable<external_batch> receive(std::size_t most) = 0;

  /// The message at this place and all in front of it are settled, and the position is stored: what no other group
  /// needs can be removed. Called after commits, not after each, and not after the last one of a process that dies. An
  /// error opens the log again; complete without one where the removal can wait.
  virtual boost::asio::awaitable<error_code> consumed(std::string place);

  /// The connection can be ended, and what was received and not handed over forgotten. An exception is told only.
  virtual boost::asio::awaitable<void> close();
};

/// Implemented by the user: one shard of a queue that delivers each message until it is acknowledged, and forgets it
/// then. The ids of messages that are settled are remembered in ZooKeeper: they are written in the same transaction as
/// the effects, and the messages are acknowledged afterwards. One that is delivered again, because the acknowledgement
/// was lost, is known by its id, and acknowledged without being processed. `external_source::feed` makes a feed of it;
/// docs/own-source.md has an example.
///
/// Effects in ZooKeeper happen once as long as the id is remembered. That is so for the last
/// `external_options::remembered` messages of the shard; a message that is delivered again later than that is processed
/// again. Two messages with one id count as one: the second is never processed, and acknowledged when the first is, or
/// at once if that is settled.
///
/// The functions are called as those of `external_log`, with the same rules for errors, exceptions and cancellation.
/// `acknowledge` may be called while `receive` waits.
class external_queue {
 public:
  virtual ~external_queue() = default;

  /// For logs and error texts, such as "queue orders of mq-1". Asked once, when the feed is made. Shown
  /// as that of an `external_log`.
  virtual std::string name() const = 0;

  /// From here on `receive` brings all messages that are not acknowledged, also those that were delivered before. In
  /// their old order, in front of all others: else the order of the consumer is not kept when a term ends.
  virtual boost::asio::awaitable<error_code> open() = 0;

  /// Waits for a message, and completes with up to `most` (1 or more), in order. A message that is in hand may come
  /// again: it is processed once. A queue that completes without a message and without an error is asked again at once,
  /// so it has to wait itself. More than `most` end the run, as an exception does.
  virtual boost::asio::awaitable<external_batch> receive(std::size_t most) = 0;

  /// These messages are settled, and are not to be delivered again. An id is given as often as it was received since
  /// `open`, and perhaps more often: one that is unknown, or was acknowledged before, is no error. The order is that in
  /// which they were settled. When a term ends, a call has one second to end.
  virtual boost::asio::awaitable<error_code> acknowledge(std::vector<std::string> ids) = 0;

  /// The ids, acknowledged before, that can not come again, whatever happens to the process or to the connection; each
  /// is told once. They need not be remembered, so the memory is short where an acknowledgement that has completed is
  /// final, as the removal of a row is. A call of `receive` under way may still bring them: they are remembered until
  /// it has ended. Called after each `acknowledge`. Nothing: it is not known of any.
  virtual std::vector<std::string> take_forgotten();

  /// The connection can be ended. What was not acknowledged is delivered after the next `open`, here or in another
  /// process. An exception is told only.
  virtual boost::asio::awaitable<void> close();
};

/// Messages that are kept elsewhere, and that the user's code reads, consumed under the fence of a leader or of a
/// shard's owner. The record of what is settled is written in the same transaction as the effects, so they happen once:
/// for a log the position of a group, for a queue the ids of the messages that were settled last. docs/own-source.md
/// says what the user's class has to do, and how it is tested. To process a dead letter again, put its key and data
/// into the source, and discard the letter. Thread safety: safe.
class external_source : public source_base {
 public:
  external_source() = default;  ///< Stands for nothing: `feed` throws, and operations complete with `closed`.
  /// `path`: where positions, memories and dead letters are kept. Its record is compared when a feed is used first:
  /// `size_mismatch` (another number of shards), `foreign_data` (another source, a queue instead of a log, or no record
  /// of ours). \throws std::invalid_argument naming the bad path or option.
  external_source(session over, std::string path, external_options options);

  /// The messages of one shard of a log, for a `queue_consumer` of this group: one process at a time should consume a
  /// shard for a group, under an election or a shard group. The first use of a name makes the group: it begins with the
  /// first message that is there. An object is for one feed.
  ///
  /// The run of the consumer ends with `career_failed` for an exception of the log, for an id that is none, for
  /// `foreign_data` and `size_mismatch`. While the log reports errors, the consumer waits. An operator who removes the
  /// position (`/path/<shard>/_at/<group>`) lets the group begin anew.
  /// \throws std::invalid_argument if there is no such shard, if the name of the group is not 1 to 256 bytes without
  /// slash and what ZooKeeper refuses in paths, if `from` is null, or if this object was made by default.
  message_feed feed(std::shared_ptr<external_log> from, std::uint32_t shard, std::string group) const;

  /// The messages of one shard of a queue, for a `queue_consumer`: one process at a time should consume a shard, under
  /// an election or a shard group. An object is for one feed. Runs end as those with a log. An operator who removes the
  /// memory (`/path/<shard>/_at/consumers`) lets what is delivered again be processed again.
  /// \throws std::invalid_argument if there is no such shard, if `from` is null, or if this object was made by default.
  message_feed feed(std::shared_ptr<external_queue> from, std::uint32_t shard) const;

  const external_options& options() const noexcept;
};

}  // namespace zkrecipes
