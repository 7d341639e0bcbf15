// A career that works off a queue.
#pragma once

#include <memory>

#include <zkrecipes/leader_career.hpp>
#include <zkrecipes/message_feed.hpp>
#include <zkrecipes/message_outcome.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/queue_consumer_options.hpp>
#include <zkrecipes/queue_consumer_status.hpp>

namespace zkrecipes {

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
  /// \throws std::invalid_argument naming the bad option, or if `from` was made by default.
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
