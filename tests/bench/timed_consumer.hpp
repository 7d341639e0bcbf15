// A consumer whose rate is measured.
#pragma once

#include <optional>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>

#include "delivery_result.hpp"
#include "stopwatch.hpp"

namespace bench {

/// Knows when it was called for the first time.
class timed_consumer : public zkrecipes::queue_consumer {
 public:
  using queue_consumer::queue_consumer;

  clock::time_point began() const { return began_.value(); }

 protected:
  void record_call() {
    if (!began_) began_ = clock::now();
  }

 private:
  std::optional<clock::time_point> began_;
};

/// Runs a coordinator at this path until the consumer has settled so many messages. The time is that from its first
/// call to the reply of the last commit.
delivery_result work_off(boost::asio::io_context& io, const zkrecipes::session& zk, const char* path,
                         timed_consumer& career, int count);

}  // namespace bench
