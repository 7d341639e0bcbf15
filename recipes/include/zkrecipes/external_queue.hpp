// A queue with acknowledgements, implemented by the user, as a source of messages for consumers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/error.hpp>
#include <zkrecipes/external_message.hpp>

namespace zkrecipes {

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

}  // namespace zkrecipes
