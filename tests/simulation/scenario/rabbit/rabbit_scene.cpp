#include "scenario/rabbit/rabbit_scene.hpp"

#include <algorithm>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/delivery_limit.hpp"

namespace zkrecipes::simulation {

using std::chrono::milliseconds;

namespace {

rabbit_options draw_broker(std::uint64_t seed) {
  chance draw(seed, 1'980);
  rabbit_options options;
  options.hosts = rabbit_cluster::hosts();
  options.queue = "q";
  options.shards = rabbit_shards;
  options.prefetch = static_cast<std::uint32_t>(draw.one_in(4) ? 1 : 2 + draw.below(12));
  options.timeout = milliseconds(800 + draw.below(2'200));
  options.heartbeat = std::chrono::seconds(1 + draw.below(4));
  options.stall_timeout = milliseconds(300 + draw.below(1'200));
  options.retry.first_pause = milliseconds(20 + draw.below(200));
  options.retry.max_pause = options.retry.first_pause + milliseconds(draw.below(1'500));
  return options;
}

queue_consumer_options draw_consuming(std::uint64_t seed) {
  chance draw(seed, 1'981);
  queue_consumer_options options;
  const auto promise = draw.below(8);
  if (promise == 6) options.delivery = delivery_guarantee::at_least_once;
  if (promise == 7) options.delivery = delivery_guarantee::at_most_once;
  options.order = static_cast<message_order>(draw.below(3));
  options.window = draw.one_in(3) ? 1 : 2 + draw.below(12);
  if (options.order != message_order::strict) options.parallel = 1 + draw.below(options.window);
  if (options.order == message_order::none) options.key = [](const message& item) { return item.key; };
  options.retry.attempts = static_cast<std::int32_t>(1 + draw.below(4));
  options.retry.first = milliseconds(draw.below(300));
  options.retry.longest = options.retry.first + milliseconds(draw.below(1'000));
  options.retry.outage = milliseconds(chance(seed, 876).below(500));
  // Each attempt at a message that kills its process takes a time-out.
  if (rabbit_rules::has_killer(seed)) options.retry.attempts = std::min(options.retry.attempts, 2);
  return options;
}

career_traits draw_rabbit_traits(std::uint64_t seed) {
  chance draw(seed, 1'982);
  return {.hand_over_deadline = milliseconds(draw.below(4) * 700),
          .aftermath = 0ms,
          .finish_message_in_hand = !draw.one_in(3),
          .stall_limit = 0ms,
          .work_while_suspended = !draw.one_in(5)};
}

}  // namespace

rabbit_scene::rabbit_scene(stage& in_stage)
    : in(in_stage),
      broker(draw_broker(in.what().seed)),
      consuming(draw_consuming(in.what().seed)),
      terms{term_rules(in, rabbit_rules::election_path(0)), term_rules(in, rabbit_rules::election_path(1))},
      lines{line_rules(in, rabbit_rules::election_path(0)), line_rules(in, rabbit_rules::election_path(1))},
      messages(in, consuming, broker, terms),
      cluster(in.clock(), in.brokers(), in.what().seed, messages),
      traits_(draw_rabbit_traits(in.what().seed)) {
  chance draw(in.what().seed, 1'984);
  for (std::uint32_t shard = 0; shard < rabbit_shards; ++shard) {
    if (draw.one_in(3)) cluster.declare(queue_of(shard), limit_of_operators());
  }
}

/// What the page of the recipe says. Queues of brokers before 4.0 need none, and those of earlier versions have none.
detail::delivery_limit rabbit_scene::limit_of_operators() const {
  return cluster.major_version() > 3 ? detail::unreachable_limit : detail::delivery_limit();
}

void rabbit_scene::inaugurated(int feed, int client, const term& present) {
  terms[shard_of(feed)].inaugurated(client, present.epoch(), present.token());
}

/// A consumer has told that its queue has gone: an operator makes it again, a while later.
void rabbit_scene::mend(int feed, const error_code& why, const session&, operations&, std::function<void()> then) {
  const bool has_gone = why == rabbit_errc::missing_queue && messages.was_deleted(shard_of(feed));
  in.require(has_gone, "a consumer fails only when its queue has gone", why.message());
  chance draw(in.what().seed, 1'983 + static_cast<std::uint64_t>(feed));
  in.clock().after(draw.between(200ms, 3s),
                   [this, feed] { cluster.declare(queue_of(shard_of(feed)), limit_of_operators()); });
  then();
}

}  // namespace zkrecipes::simulation
