// Queues, topics, their producers, items that were taken, gates, and limiters.
#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

/// A dead letter that does not exist.
dead_letter letter() {
  dead_letter one;
  one.name = one.item = "qn-0000000001";
  return one;
}

/// A key that is not parked.
parked_key key() {
  parked_key one;
  one.name = "00000000-0000-5000-8000-000000000000";
  return one;
}

subject of_queue() {
  return subject_of<queue>("queue")
      .made([](const session& zk) { return queue(zk, "/queue"); })
      .has("queue::async_put(data)", [](auto& q, auto t) { q.async_put("x", std::move(t)); })
      .has("queue::async_put_many(items)",
           [](auto& q, auto t) {
             q.async_put_many({"x", "y"}, std::move(t));
           })
      .has("queue::async_next()", [](auto& q, auto t) { q.async_next(std::move(t)); })
      .has("queue_base::async_take()", [](auto& q, auto t) { q.async_take(std::move(t)); })
      .has(
          "queue_base::async_take_for(budget)", [](auto& q, auto t) { q.async_take_for(budget, std::move(t)); },
          timed_out)
      .has(
          "queue_base::async_take_many_for(most, budget)",
          [](auto& q, auto t) { q.async_take_many_for(2, budget, std::move(t)); }, timed_out)
      .has(
          "queue_base::async_pop_for(budget)", [](auto& q, auto t) { q.async_pop_for(budget, std::move(t)); },
          timed_out)
      .has("queue_base::async_take_many(most)", [](auto& q, auto t) { q.async_take_many(2, std::move(t)); })
      .has("queue_base::async_pop()", [](auto& q, auto t) { q.async_pop(std::move(t)); })
      .has("queue_base::async_size()", [](auto& q, auto t) { q.async_size(std::move(t)); }, {errc::no_node})
      .has("queue_base::async_status()", [](auto& q, auto t) { q.async_status(std::move(t)); }, {errc::no_node})
      .has("queue_base::async_dead_letters()", [](auto& q, auto t) { q.async_dead_letters(std::move(t)); })
      .has("queue_base::async_revive(which)", [](auto& q, auto t) { q.async_revive(letter(), std::move(t)); },
           {errc::no_node, errc::bad_arguments})
      .has("queue_base::async_discard(which)", [](auto& q, auto t) { q.async_discard(letter(), std::move(t)); },
           {errc::no_node, errc::bad_arguments})
      .has("queue_base::async_parked_keys()", [](auto& q, auto t) { q.async_parked_keys(std::move(t)); })
      .has("queue_base::async_revive_key(which)", [](auto& q, auto t) { q.async_revive_key(key(), std::move(t)); },
           {errc::no_node});
}

/// An item that was taken.
struct taken {
  queue from;
  message item;
};

subject of_taken() {
  const std::set<error_code> gone{errc::superseded};
  return subject_of<taken>("a taken item")
      .had([](const session& zk, auto got) {
        queue from(zk, "/queue");
        from.async_put("x", [](error_code, std::string) {});
        from.async_take([from, got](error_code error, message item) { got(error, taken{from, std::move(item)}); });
      })
      .has(
          "queue_base::async_acknowledge(item)",
          [](auto& q, auto t) { q.from.async_acknowledge(q.item, std::move(t)); }, gone)
      .has(
          "queue_base::async_acknowledge(item, effects)",
          [](auto& q, auto t) { q.from.async_acknowledge(q.item, transaction().create("/done"), std::move(t)); }, gone)
      .has_always(
          "queue_base::async_return(item)", [](auto& q, auto t) { q.from.async_return(q.item, std::move(t)); }, gone)
      .has(
          "queue_base::async_return(item, where, reason)",
          [](auto& q, auto t) { q.from.async_return(q.item, return_to::end, "later", std::move(t)); }, gone)
      .has(
          "queue_base::async_reject(item, reason)",
          [](auto& q, auto t) { q.from.async_reject(q.item, "bad", std::move(t)); }, gone);
}

subject of_priority_queue() {
  return subject_of<priority_queue>("priority_queue")
      .made([](const session& zk) { return priority_queue(zk, "/urgent"); })
      .has("priority_queue::async_put(data, priority)", [](auto& q, auto t) { q.async_put("x", 5, std::move(t)); })
      .has("priority_queue::async_put_many(items)", [](auto& q, auto t) {
        q.async_put_many({prioritized{"x", 5}}, std::move(t));
      });
}

subject of_delay_queue() {
  return subject_of<delay_queue>("delay_queue")
      .made([](const session& zk) { return delay_queue(zk, "/later"); })
      .has("delay_queue::async_put(data, delay)", [](auto& q, auto t) { q.async_put("x", 5s, std::move(t)); })
      .has("delay_queue::async_put_many(items)",
           [](auto& q, auto t) {
             q.async_put_many({delayed{"x", 5s}}, std::move(t));
           })
      .has("delay_queue::async_put_at(data, when)",
           [](auto& q, auto t) { q.async_put_at("x", std::chrono::system_clock::time_point(), std::move(t)); });
}

subject of_producer() {
  return subject_of<producer>("producer")
      .made([](const session& zk) { return producer(queue(zk, "/queue"), "a"); })
      .has("producer::async_put(data)", [](auto& p, auto t) { p.async_put("x", std::move(t)); })
      .has("producer_base::async_put(key, data)", [](auto& p, auto t) { p.async_put("", "x", std::move(t)); })
      .has("producer_base::async_put_all(messages)",
           [](auto& p, auto t) {
             p.async_put_all({{"", "x"}, {"", "y"}}, std::move(t));
           })
      .has("producer_base::async_last()", [](auto& p, auto t) { p.async_last(std::move(t)); });
}

// Gates and limiters need no session, only an executor.
subject of_gate() {
  return subject_of<zkrecipes::gate>("gate")
      .made([](const session& zk) { return zkrecipes::gate(zk.get_executor()); })
      .has_always("gate::async_enter(key)", [](auto& g, auto t) { g.async_enter("k", std::move(t)); });
}

subject of_limiter() {
  return subject_of<limiter>("limiter")
      .made([](const session& zk) { return limiter(zk.get_executor(), {.rate = 1'000'000, .burst = 1'000}); })
      .has_always("limiter::async_acquire(cost)", [](auto& l, auto t) { l.async_acquire(1, std::move(t)); })
      .has_always("limiter::async_acquire_for(cost, budget)",
                  [](auto& l, auto t) { l.async_acquire_for(1, 5s, std::move(t)); });
}

subject of_keyed_limiter() {
  return subject_of<keyed_limiter>("keyed_limiter")
      .made([](const session& zk) { return keyed_limiter(zk.get_executor(), {.rate = 1'000'000, .burst = 1'000}); })
      .has_always("keyed_limiter::async_acquire(key)", [](auto& l, auto t) { l.async_acquire("k", std::move(t)); });
}

}  // namespace

std::vector<subject> queue_subjects() {
  return {of_queue(),    of_taken(), of_priority_queue(), of_delay_queue(),
          of_producer(), of_gate(),  of_limiter(),        of_keyed_limiter()};
}

// Topics and their producers.

namespace {

/// A dead letter that does not exist.
dead_letter topic_letter() {
  dead_letter one;
  one.name = "letter-0000000001";
  one.item = "0001/17.3";
  return one;
}

subject of_topic() {
  return subject_of<topic>("topic")
      .made([](const session& zk) { return topic(zk, "/topic", {.shards = 3}); })
      .has("source_base::async_seek(shard, group, where)",
           [](auto& t, auto token) { t.async_seek(1, "g", source_position::end(), std::move(token)); })
      .has("source_base::async_lag(group)", [](auto& t, auto token) { t.async_lag("g", std::move(token)); },
           {errc::no_node})
      .has("topic::async_shards()", [](auto& t, auto token) { t.async_shards(std::move(token)); }, {errc::no_node})
      .has("source_base::async_dead_letters(group)",
           [](auto& t, auto token) { t.async_dead_letters("g", std::move(token)); })
      .has("source_base::async_revive(group, which)",
           [](auto& t, auto token) { t.async_revive("g", topic_letter(), std::move(token)); }, {errc::no_node})
      .has("source_base::async_discard(group, which)",
           [](auto& t, auto token) { t.async_discard("g", topic_letter(), std::move(token)); }, {errc::no_node});
}

subject of_topic_producer() {
  return subject_of<topic_producer>("topic_producer")
      .made([](const session& zk) { return topic_producer(topic(zk, "/topic", {.shards = 3}), "a"); })
      .has("producer_base::async_put(key, data)", [](auto& p, auto t) { p.async_put("k", "x", std::move(t)); })
      .has("producer_base::async_put_all(messages)",
           [](auto& p, auto t) {
             p.async_put_all({{"k", "x"}, {"l", "y"}}, std::move(t));
           })
      .has("producer_base::async_last()", [](auto& p, auto t) { p.async_last(std::move(t)); });
}

}  // namespace

std::vector<subject> topic_subjects() { return {of_topic(), of_topic_producer()}; }

}  // namespace zkrecipes::test
