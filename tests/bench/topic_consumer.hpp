// A consumer of a topic whose effects are few bytes.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <zkrecipes/consumer/topic.hpp>

#include "timed_consumer.hpp"
#include "topic_rounds.hpp"

namespace bench {

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
