// A career that works off a queue, with effects that happen once.
#pragma once

#include <zkrecipes/leader_career.hpp>
#include <zkrecipes/queue.hpp>

namespace zkrecipes {

/// Implemented by the user: `process` is called with one message after the other while we lead. The effects that it
/// returns, the removal of the message and the check that no newer term has begun are one transaction, so effects kept
/// in ZooKeeper happen exactly once. A message that another client removes while we work on it is passed over, without
/// effects. Effects that the servers refuse end the run with `career_failed`, and the message stays. For example the
/// parent of a node to create can be missing: create it in `inaugurate`. The time spent waiting for a message does not
/// count as work (`career_traits::stall_limit`). For effects elsewhere, pass `term::token()` and `message::name` to the
/// store.
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
