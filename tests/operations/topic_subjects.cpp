// Topics and their producers.
#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

#include "operations/subjects.hpp"

namespace zkrecipes::test {

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
