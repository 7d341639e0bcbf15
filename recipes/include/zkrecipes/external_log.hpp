// A log with positions, implemented by the user, as a source of messages for consumers.
#pragma once

#include <cstddef>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/error.hpp>
#include <zkrecipes/external_message.hpp>

namespace zkrecipes {

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

}  // namespace zkrecipes
