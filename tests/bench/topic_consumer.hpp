// A consumer of a topic whose effects are few bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/consumer/topic.hpp>

#include "rates.hpp"
#include "rounds.hpp"
#include "topic_rounds.hpp"

namespace bench {

/// A consumer whose rate is measured.
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

class topic_consumer : public timed_consumer {
 public:
  topic_consumer(const zkrecipes::message_feed& from, zkrecipes::queue_consumer_options options, bool creates)
      : timed_consumer(from, std::move(options)), creates_(creates) {}

  boost::asio::awaitable<zkrecipes::message_outcome> process(zkrecipes::term, const zkrecipes::message& item) override {
    record_call();
    zkrecipes::transaction effects;
    if (creates_) co_return effects.create(std::string(topic_paths::effects) + '/' + item.name, "x");
    sum_ += item.data.size();
    co_return effects.set(topic_paths::effects, std::to_string(sum_));
  }

 private:
  bool creates_;
  std::size_t sum_ = 0;
};

inline zkrecipes::topic topic_of(const zkrecipes::session& zk, std::uint32_t shards) {
  return {zk, topic_paths::topic, {.shards = shards, .retention = {.groups = {topic_paths::group}}}};
}

}  // namespace bench
