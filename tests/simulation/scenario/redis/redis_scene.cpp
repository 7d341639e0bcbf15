#include "scenario/redis/redis_scene.hpp"

#include <utility>

#include <zkrecipes/redis/redis_streams.hpp>

namespace zkrecipes::simulation {

using std::chrono::milliseconds;

namespace {

std::vector<std::string> draw_groups(std::uint64_t seed) {
  chance draw(seed, 2'901);
  return draw.one_in(2) ? std::vector<std::string>{"g"} : std::vector<std::string>{"g", "h"};
}

redis_options draw_redis(std::uint64_t seed) {
  chance draw(seed, 2'902);
  redis_options options;
  options.hosts = redis_pair::hosts();
  options.password = redis_pair::password;
  options.database = draw.one_in(2) ? 0 : 3;
  options.stream = "s";
  options.shards = 2;
  if (!draw.one_in(3)) options.groups = draw_groups(seed);
  options.regress = draw.one_in(2) ? redis_regress::go_on : redis_regress::stop_the_run;
  options.read_ahead = 1 + draw.below(8);
  options.timeout = milliseconds(300 + draw.below(1'700));
  options.retry.first_pause = milliseconds(20 + draw.below(100));
  options.retry.max_pause = options.retry.first_pause + milliseconds(draw.below(1'000));
  return options;
}

queue_consumer_options draw_redis_consuming(std::uint64_t seed) {
  chance draw(seed, 2'903);
  queue_consumer_options options;
  options.order = static_cast<message_order>(draw.below(3));
  options.window = draw.one_in(3) ? 1 : 2 + draw.below(12);
  if (options.order != message_order::strict) options.parallel = 1 + draw.below(options.window);
  options.retry.attempts = static_cast<std::int32_t>(1 + draw.below(4));
  options.retry.first = milliseconds(draw.below(300));
  options.retry.longest = options.retry.first + milliseconds(draw.below(1'000));
  options.retry.outage = milliseconds(chance(seed, 876).below(500));
  return options;
}

career_traits draw_redis_traits(std::uint64_t seed) {
  chance draw(seed, 2'904);
  return {.hand_over_deadline = milliseconds(draw.below(4) * 700),
          .aftermath = 0ms,
          .finish_message_in_hand = !draw.one_in(3),
          .stall_limit = 0ms,
          .work_while_suspended = !draw.one_in(5)};
}

}  // namespace

redis_scene::redis_scene(stage& in_stage)
    : in(in_stage),
      broker(draw_redis(in.what().seed)),
      consuming(draw_redis_consuming(in.what().seed)),
      rules(in, broker, draw_groups(in.what().seed), consuming, terms),
      brokers(in.clock(), in.brokers(), in.what().seed, rules),
      traits_(draw_redis_traits(in.what().seed)) {
  for (int feed = 0; feed < feeds(); ++feed) {
    terms.emplace_back(in, election(feed));
    lines.emplace_back(in, election(feed));
  }
}

message_feed redis_scene::open(int feed, const session& with) const {
  return streams_over(with).feed(rules.shard_of(feed), rules.group_of(feed));
}

void redis_scene::inaugurated(int feed, int client, const term& present) {
  terms[static_cast<std::size_t>(feed)].inaugurated(client, present.epoch(), present.token());
}

/// A consumer names the stream first, and a producer its key.
void redis_scene::told(const log_event& what) {
  if (what.error != redis_errc::source_regressed) return;
  const std::string words(what.detail);
  in.notes().note(journal::ensemble, "told", words);
  if (!words.starts_with("the last message of the producer")) return rules.told(words.substr(0, words.find(": ")));
  in.require(rules.was_anything_lost(), "no loss is told where nothing was lost", words);
  rules.puts().told();
}

/// The operator decides that the group goes on with what is put from now on.
void redis_scene::mend(int feed, const error_code& why, const session& with, operations& by,
                       std::function<void()> then) {
  const bool stops = broker.regress == redis_regress::stop_the_run && rules.was_lost(rules.stream_of(feed));
  in.require(why == redis_errc::source_regressed && stops, "only a loss ends a run", why.message());
  auto streams = streams_over(with);
  by.start<>(
      [&](auto token) {
        streams.async_seek(rules.shard_of(feed), rules.group_of(feed), source_position::end(), std::move(token));
      },
      [then = std::move(then)](error_code) { then(); });
}

}  // namespace zkrecipes::simulation
