// Three processes consume two queues of a broker; of each queue one of them at a time is the leader. A fourth process
// puts messages with two producers, and other clients of the broker put some with ids of their own, and some without.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "model/rabbit/rabbit_cluster.hpp"
#include "scenario/feed_duties.hpp"
#include "scenario/line_rules.hpp"
#include "scenario/rabbit/rabbit_rules.hpp"

namespace zkrecipes::simulation {

inline constexpr int putting_client = 3;

/// State that the programs of the scenario share.
class rabbit_scene final : public feed_duties {
 public:
  explicit rabbit_scene(stage& in_stage);

  rabbit_queues queues_over(const session& with) const { return {with, "/rabbit", broker}; }
  static std::string queue_of(std::uint32_t shard) { return "q:" + std::to_string(shard); }
  /// The data of the next message of this publisher.
  std::string next_data(const std::string& publisher) {
    return publisher + ' ' + std::to_string(++published[publisher]);
  }

  int feeds() const override { return static_cast<int>(rabbit_shards); }
  std::string election(int feed) const override { return rabbit_rules::election_path(shard_of(feed)); }
  std::string results(int feed) const override { return rabbit_rules::result_path(shard_of(feed)); }
  message_feed open(int feed, const session& with) const override { return queues_over(with).feed(shard_of(feed)); }
  const queue_consumer_options& options() const override { return consuming; }
  career_traits traits() const override { return traits_; }
  void inaugurated(int feed, int client, const term& present) override;
  void begun(int, const term& present, const message& item) override { messages.begun(present, item); }
  bool kills(const std::string& data) const override { return messages.kills(data); }
  void mend(int feed, const error_code& why, const session& with, operations& by, std::function<void()> then) override;

  stage& in;
  rabbit_options broker;
  queue_consumer_options consuming;
  std::array<term_rules, rabbit_shards> terms;
  std::array<line_rules, rabbit_shards> lines;
  rabbit_rules messages;
  rabbit_cluster cluster;
  std::map<std::string, std::uint64_t> published;

 private:
  detail::delivery_limit limit_of_operators() const;
  static std::uint32_t shard_of(int feed) { return static_cast<std::uint32_t>(feed); }

  career_traits traits_;
};

std::unique_ptr<program> make_rabbit_putter(rabbit_scene& of, session with);

}  // namespace zkrecipes::simulation
