// A career that works off a queue, with effects that happen once.
#pragma once

#include <zkrecipes/leader_career.hpp>
#include <zkrecipes/queue.hpp>

namespace zkrecipes {

/// Implemented by the user: `process` is called with one message after the other while we lead. The effects it returns,
/// the removal of the message and the check that no newer term has begun are one transaction: what is kept in ZooKeeper
/// happens exactly once. A message that somebody removes while it is in hand is passed over, without effects. Waiting for
/// a message is no work (`career_traits::stall_limit`). For effects elsewhere, pass `term::token()` and `message::name` to the store.
class queue_consumer : public leader_career {
 public:
  explicit queue_consumer(queue from);

  /// Returns the effects to commit together with the acknowledgement.
  virtual boost::asio::awaitable<transaction> process(term present, const message& item) = 0;

  boost::asio::awaitable<void> inaugurate(term present) override;
  boost::asio::awaitable<void> hand_over(term present, term_end reason) override;
  boost::asio::awaitable<void> execute(term present) final;

 private:
  queue queue_;
};

}  // namespace zkrecipes
