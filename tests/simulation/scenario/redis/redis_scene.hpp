// Three processes consume the streams of a broker for one or two groups; of each stream and group one of them at a time
// is the leader. A fourth process puts messages with producers of one name, and a client that knows nothing of the
// library puts some, too.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/redis/redis_streams.hpp>

#include "model/redis/redis_pair.hpp"
#include "scenario/feed_duties.hpp"
#include "scenario/line_rules.hpp"
#include "scenario/redis/stream_rules.hpp"

namespace zkrecipes::simulation {

inline constexpr int redis_putting_client = 3;

/// State that the programs of the scenario share.
class redis_scene final : public feed_duties {
 public:
  explicit redis_scene(stage& in_stage);

  redis_streams streams_over(const session& with) const { return {with, stream_rules::root, broker}; }
  /// The log of a session.
  void told(const log_event& what);

  int feeds() const override { return rules.feeds(); }
  std::string election(int feed) const override { return "/consumer-" + std::to_string(feed); }
  std::string results(int feed) const override { return stream_rules::results_of(feed); }
  message_feed open(int feed, const session& with) const override;
  const queue_consumer_options& options() const override { return consuming; }
  career_traits traits() const override { return traits_; }
  void inaugurated(int feed, int client, const term& present) override;
  void begun(int feed, const term& present, const message& item) override { rules.begun(feed, present, item); }
  void mend(int feed, const error_code& why, const session& with, operations& by, std::function<void()> then) override;

  stage& in;
  redis_options broker;
  queue_consumer_options consuming;
  std::deque<term_rules> terms;  // by feed
  std::deque<line_rules> lines;
  stream_rules rules;
  redis_pair brokers;

 private:
  career_traits traits_;
};

std::unique_ptr<program> make_redis_putter(redis_scene& of, session with);

}  // namespace zkrecipes::simulation
