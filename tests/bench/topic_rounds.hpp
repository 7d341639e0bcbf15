// Rounds of a producer and a consumer of a topic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/consumer/topic.hpp>

#include "parts.hpp"
#include "rates.hpp"
#include "rounds.hpp"

namespace bench {

struct topic_paths {
  static constexpr const char* topic = "/topics/topic";
  static constexpr const char* effects = "/topics/effects";  ///< With a node for each message, or the total.
  static constexpr const char* record = "/topics/record";    ///< What the bare loop checks.
  static constexpr const char* position = "/topics/position";
  static constexpr const char* coordinator = "/topics/lead";
  static constexpr const char* group = "bench";
};

inline constexpr std::size_t topic_message_bytes = 100;  ///< Key and data.

/// A new topic with messages. The destructor removes all that is left.
class topic_backlog {
 public:
  topic_backlog(std::string hosts, std::uint32_t shards);
  ~topic_backlog();
  topic_backlog(const topic_backlog&) = delete;
  topic_backlog& operator=(const topic_backlog&) = delete;

  /// Puts so many messages of 100 bytes with 1 000 keys; at most 20 000 wait at a time. Returns messages a second,
  /// those of a producer that has put into all shards before.
  double fill(int count);
  /// The same in calls of 1 000 messages, all at once.
  double fill_by_thousands(int count);
  const std::string& hosts() const noexcept { return hosts_; }
  std::uint32_t shards() const noexcept { return shards_; }
  int count() const noexcept { return count_; }

 private:
  template <class Putter>
  double fill_by(int count);

  std::string hosts_;
  std::uint32_t shards_;
  int count_ = 0;
};

/// A loop of the C client that sends transactions of the same size, as many at a time. Returns messages a second.
double put_bare(const std::string& hosts, std::uint32_t shards, int count);

struct topic_consumption {
  std::size_t window = 256;
  bool creates = false;  ///< A node for each message. Else all effects set one node.
};

/// Runs a coordinator with a consumer of shard 0 until the backlog is worked off.
delivery_result consume_topic(const std::string& hosts, const topic_backlog& backlog, const topic_consumption& how);
/// A loop of the C client that sends the same transactions, and reads the batches meanwhile.
delivery_result consume_topic_bare(const std::string& hosts, const topic_backlog& backlog,
                                   const topic_consumption& how);

// A topic whose shards are worked off by several processes.

/// Each process works off as many shards. The time is that from the start of all to the last commit of the last.
delivery_result consume_as_team(const plan& what, const topic_backlog& backlog, std::uint32_t processes);

/// One of the processes: says that it is ready, waits for a line with the number of messages of its shards, and prints
/// the number of its commits when it has settled all of them.
void consume_share(const std::string& hosts, std::uint32_t shards, std::uint32_t first, std::uint32_t count);

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
