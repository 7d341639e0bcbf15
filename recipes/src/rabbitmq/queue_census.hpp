// Counts what waits in the queues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/rabbit_connection.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// It asks for many queues at once. The broker answers in order, up to the first one that is missing, and reads nothing
/// behind it until the channel was opened anew. So a missing queue costs a round trip. On the strand, with a connection
/// of its own.
class queue_census {
 public:
  explicit queue_census(rabbit_frame_ptr frame);

  /// Each shard, in order; none with an error. Errors: `operation_aborted`, and those of `broker_connection::ready`;
  /// `unavailable` when the time is over.
  awaitable<error_code> count(std::vector<source_lag>& into, lease_clock::time_point until);

 private:
  static constexpr std::uint32_t most_at_once = 100;

  void ask();
  void on_answer(std::uint32_t shard, const amqp_answer& answer);
  awaitable<error_code> answers();
  error_code judge();

  rabbit_frame_ptr frame_;
  rabbit_connection broker_;
  condition arrived_;
  std::vector<source_lag> found_;
  std::uint32_t at_once_ = most_at_once;  // queues that are asked for next
  std::size_t asked_ = 0;
  std::size_t awaited_ = 0;
  amqp_answer refusal_;  // the first one of what was asked last
};

}  // namespace zkrecipes::detail
