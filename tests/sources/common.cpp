// The cases that every source of messages passes. They are the measure of a new source: docs/own-source.md.
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <boost/mpl/list.hpp>
#include <boost/mpl/push_front.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>
#include <zkrecipes/queue.hpp>

#include "ensemble/delivery_case.hpp"
#include "queue/queue_layout.hpp"
#include "sources/own_log_under_test.hpp"
#include "sources/own_queue_under_test.hpp"

#ifdef ZKRECIPES_TEST_REDIS
#include <zkrecipes/redis/redis_streams.hpp>

#include <testcluster/redis_broker.hpp>

#include "redis/redis_client.hpp"
#endif
#ifdef ZKRECIPES_TEST_RABBIT
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include <testcluster/rabbit_broker.hpp>

#include "rabbit/rabbit_client.hpp"
#endif

namespace zkrecipes::test {

struct running_career {
  running_career(session over, std::unique_ptr<acting_consumer> what)
      : zk(std::move(over)),
        does(std::move(what)),
        coordinator(zk, "/e", {.id = "consumer"}),
        ended(zk.get_executor()) {
    coordinator.async_run(*does, ended.token());
  }

  session zk;
  std::unique_ptr<acting_consumer> does;
  consumer_coordinator coordinator;
  recorder<> ended;
};

/// Is begun before the fixture counts the descriptors of the process.
template <class Source>
struct with_source {
  Source source{};
};

/// `Source` is the source under test: it puts messages, whose key is their first letter, and makes consumers of them.
template <class Source>
class source_case : protected with_source<Source>, public ensemble_case {
 public:
  source_case() {
    create("/e");
    create("/results");
    options.retry = {.first = 1ms, .longest = 10ms, .attempts = 3, .outage = 10ms};
    options.window = 16;
  }
  void teardown() {
    end_runs(all);
    this->source = Source();
    for (const auto* each : {"/e", "/results", "/q"}) {
      if (exists(each)) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children(each, tuple))));
    }
    ensemble_case::teardown();
  }

  void put_all(const std::vector<std::string>& data) {
    for (const auto& each : data) this->source.put(*this, each);
  }
  running_career& consume(session by, processor does) {
    auto how = options;
    if (how.order == message_order::by_key) Source::adapt(how);
    return all.emplace_back(by, this->source.consumer(by, std::move(how), std::move(does)));
  }
  running_career& consume(processor does) { return consume(connect(), std::move(does)); }
  bool has_results(std::size_t count) {
    return run_until([&] { return children("/results").size() >= count; }, 30s);
  }
  std::size_t count_letters() { return exists(Source::letters()) ? children(Source::letters()).size() : 0; }

  /// As it is stored.
  std::string only_letter() {
    const auto names = children(Source::letters());
    BOOST_TEST_REQUIRE(names.size() == 1u);
    return get(Source::letters() + "/" + names.front()).data;
  }

  queue_consumer_options options;
  std::deque<running_career> all;
};

class queue_under_test {
 public:
  /// A queue knows no keys: that of a message is its first letter.
  static void adapt(queue_consumer_options& options) {
    options.key = [](const message& what) { return what.data.substr(0, 1); };
  }
  void put(ensemble_case& by, const std::string& data) {
    auto result = by.run(queue(by.zk(), "/q").async_put(data, tuple));
    if (std::get<0>(result)) throw boost::system::system_error(std::get<0>(result));
  }
  std::unique_ptr<acting_consumer> consumer(session over, queue_consumer_options options, processor does) {
    return std::make_unique<acting_consumer>(queue(std::move(over), "/q"), std::move(options), career_traits(),
                                             std::move(does));
  }
  static std::string letters() { return "/q/_dead"; }
  static std::string root() { return "/q"; }
};

class topic_under_test {
 public:
  static void adapt(queue_consumer_options&) {}
  void put(ensemble_case& by, const std::string& data) {
    if (!producer_) producer_ = std::make_unique<topic_producer>(over(by.zk()), "p");
    auto result = by.run(producer_->async_put(data.substr(0, 1), data, tuple));
    if (std::get<0>(result)) throw boost::system::system_error(std::get<0>(result));
  }
  std::unique_ptr<acting_consumer> consumer(session by, queue_consumer_options options, processor does) {
    return std::make_unique<acting_consumer>(over(std::move(by)).feed(0, "g"), std::move(options), career_traits(),
                                             std::move(does));
  }
  static std::string letters() { return "/q/_dead/g"; }
  static std::string root() { return "/q"; }

 private:
  static topic over(session which) {
    topic_options how;
    how.shards = 1;
    return topic(std::move(which), "/q", how);
  }

  std::unique_ptr<topic_producer> producer_;
};

#ifdef ZKRECIPES_TEST_REDIS
class redis_under_test {
 public:
  redis_under_test() { redis_client(broker().address()).get({"FLUSHALL"}); }

  static void adapt(queue_consumer_options&) {}
  void put(ensemble_case&, const std::string& data) {
    redis_client(broker().address()).add("orders:0", data.substr(0, 1), data);
  }
  std::unique_ptr<acting_consumer> consumer(session by, queue_consumer_options options, processor does) {
    redis_options where;
    where.hosts = broker().address();
    where.stream = "orders";
    where.shards = 1;
    return std::make_unique<acting_consumer>(redis_streams(std::move(by), "/q", where).feed(0, "g"), std::move(options),
                                             career_traits(), std::move(does));
  }
  static std::string letters() { return "/q/_dead/g"; }
  static std::string root() { return "/q"; }

 private:
  static testcluster::redis_broker& broker() {
    static testcluster::redis_broker one;
    return one;
  }
};
#endif

#ifdef ZKRECIPES_TEST_RABBIT
/// Each object has a queue of its own, and removes that of the object before it.
class rabbit_under_test {
 public:
  rabbit_under_test() {
    static int objects = 0;
    prefix_ = "orders-" + std::to_string(++objects);
    rabbit_client to(broker().address());
    if (objects > 1) to.remove("orders-" + std::to_string(objects - 1) + ":0");
    to.declare(prefix_ + ":0");
  }

  static void adapt(queue_consumer_options&) {}
  void put(ensemble_case&, const std::string& data) {
    if (!client_) client_ = std::make_unique<rabbit_client>(broker().address());
    client_->put({.queue = prefix_ + ":0", .data = data, .id = "id " + data.substr(0, 200), .key = data.substr(0, 1)});
  }
  std::unique_ptr<acting_consumer> consumer(session by, queue_consumer_options options, processor does) {
    rabbit_options where;
    where.hosts = broker().address();
    where.queue = prefix_;
    return std::make_unique<acting_consumer>(rabbit_queues(std::move(by), "/q", where).feed(0), std::move(options),
                                             career_traits(), std::move(does));
  }
  static std::string letters() { return "/q/_dead/consumers"; }
  static std::string root() { return "/q"; }

 private:
  static testcluster::rabbit_broker& broker() {
    static testcluster::rabbit_broker one;
    return one;
  }

  std::string prefix_;
  std::unique_ptr<rabbit_client> client_;
};
#endif

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using core_sources = boost::mpl::list<own_log_under_test, own_queue_under_test>;
#ifdef ZKRECIPES_TEST_REDIS
using with_redis = boost::mpl::push_front<core_sources, redis_under_test>::type;
#else
using with_redis = core_sources;
#endif
#ifdef ZKRECIPES_TEST_RABBIT
using outside_sources = boost::mpl::push_front<with_redis, rabbit_under_test>::type;
#else
using outside_sources = with_redis;
#endif
using with_topic = boost::mpl::push_front<outside_sources, topic_under_test>::type;
using all_sources = boost::mpl::push_front<with_topic, queue_under_test>::type;

/// Twice as large as a request to ZooKeeper may be.
const std::string large_poison = "a" + std::string(2 << 20, 'x');

/// The only letter keeps the beginning of the large message, and its reason.
void check_cut(const std::string& stored, const std::string& reason) {
  const auto letter = detail::read_letter(stored);
  BOOST_TEST_REQUIRE(letter.has_value());
  BOOST_TEST(letter->data.size() > 500'000u);
  BOOST_TEST(letter->data.size() + letter->missing_bytes == large_poison.size());
  BOOST_TEST(large_poison.starts_with(letter->data));
  BOOST_TEST(letter->reason == reason);
}

}  // namespace

using attempt_list = std::vector<std::int32_t>;

BOOST_AUTO_TEST_SUITE(sources)

BOOST_FIXTURE_TEST_CASE_TEMPLATE(messages_have_their_effects_once_and_in_order, Source, all_sources,
                                 source_case<Source>) {
  this->put_all(numbers(1, 60));
  auto& who = this->consume(&succeed);
  BOOST_TEST_REQUIRE(this->has_results(60));
  this->put_all(numbers(61, 80));
  BOOST_TEST_REQUIRE(this->has_results(80));
  BOOST_TEST(this->results() == numbers(1, 80), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(this->run_until([&] { return who.does->status().done == 80; }));
}

BOOST_FIXTURE_TEST_CASE_TEMPLATE(a_message_that_throws_becomes_a_dead_letter, Source, all_sources,
                                 source_case<Source>) {
  this->put_all({"1", "poison", "2"});
  auto& who = this->consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "poison") throw std::runtime_error("it can not be read");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(this->has_results(2));
  BOOST_TEST_REQUIRE(this->run_until([&] { return who.does->status().parked == 1; }));
  BOOST_TEST(this->results() == numbers(1, 2), boost::test_tools::per_element());
  const auto letter = detail::read_letter(this->only_letter());
  BOOST_TEST_REQUIRE(letter.has_value());
  BOOST_TEST(letter->data == "poison");
  BOOST_TEST((letter->key == "p" || letter->key.empty()), letter->key);  // a queue of ZooKeeper knows no keys
  BOOST_TEST(letter->reason == "it can not be read");
  BOOST_TEST(letter->attempts == 3);
  BOOST_TEST(letter->epoch == 1);
  BOOST_TEST(letter->first_failed > 0);
  BOOST_TEST(letter->last_failed >= letter->first_failed);
  const auto& attempts = who.does->attempts["poison"];
  BOOST_TEST(attempts == std::vector<std::int32_t>({1, 2, 3}), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE_TEMPLATE(effects_that_are_refused_are_those_of_one_message, Source, all_sources,
                                 source_case<Source>) {
  this->put_all({"1", "bad", "2"});
  auto& who = this->consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "bad") co_return transaction().create("/results/below/nothing", "");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(this->has_results(2));
  BOOST_TEST_REQUIRE(this->run_until([&] { return who.does->status().parked == 1; }));
  BOOST_TEST(this->results() == numbers(1, 2), boost::test_tools::per_element());
  const auto letter = detail::read_letter(this->only_letter());
  BOOST_TEST_REQUIRE(letter.has_value());
  BOOST_TEST(letter->data == "bad");
  BOOST_TEST(letter->reason.starts_with("its effects were refused"), letter->reason);
  BOOST_TEST(who.does->status().refused >= 3u);
}

BOOST_FIXTURE_TEST_CASE_TEMPLATE(a_message_that_is_larger_than_a_letter_may_be_holds_up_nothing, Source,
                                 outside_sources, source_case<Source>) {
  this->put_all({"1", large_poison, "2"});
  auto& who = this->consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data.size() > 1) throw std::runtime_error("it can not be read");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(this->has_results(2));
  BOOST_TEST_REQUIRE(this->run_until([&] { return who.does->status().parked == 1; }));
  BOOST_TEST(this->results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(this->count_letters() == 1u);
  check_cut(this->only_letter(), "it can not be read");
}

BOOST_FIXTURE_TEST_CASE_TEMPLATE(by_key_a_message_that_is_larger_than_a_letter_may_be_is_parked, Source,
                                 outside_sources, source_case<Source>) {
  this->options.order = message_order::by_key;
  this->options.parallel = 4;
  this->put_all({"a1", large_poison, "a2", "b1"});
  auto& who = this->consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data.size() > 2) co_return message_outcome::park("too much");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(this->has_results(3));
  BOOST_TEST_REQUIRE(this->run_until([&] { return who.does->status().parked == 1; }));
  BOOST_TEST(who.does->status().refused == 0u);
  BOOST_TEST_REQUIRE(this->count_letters() == 1u);
  check_cut(this->only_letter(), "too much");
}

BOOST_FIXTURE_TEST_CASE_TEMPLATE(attempts_outlive_the_term, Source, all_sources, source_case<Source>) {
  this->options.retry = {.first = 1h, .longest = 1h, .attempts = 3};
  this->put_all({"1"});
  auto& who =
      this->consume([](term, message) -> asio::awaitable<message_outcome> { co_return message_outcome::again("no"); });
  for (std::size_t times = 1; times <= 2; ++times) {
    BOOST_TEST_REQUIRE(this->run_until([&] { return who.does->status().resting == 1; }));
    who.coordinator.resign();
    BOOST_TEST_REQUIRE(this->run_until([&] { return who.does->ends.size() == times; }));
  }
  BOOST_TEST_REQUIRE(this->run_until([&] { return who.does->status().parked == 1; }));
  BOOST_TEST(who.does->attempts["1"] == std::vector<std::int32_t>({1, 2, 3}), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE_TEMPLATE(by_key_only_the_key_that_fails_waits, Source, all_sources, source_case<Source>) {
  this->options.order = message_order::by_key;
  this->options.parallel = 8;
  this->options.retry.first = this->options.retry.longest = 1h;
  this->put_all({"a1", "a2", "b1", "a3", "b2"});
  this->consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "a1" && item.attempts == 1) co_return message_outcome::again(200ms, "not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(this->has_results(5));
  const auto seen = this->results();
  BOOST_TEST(seen == std::vector<std::string>({"b1", "b2", "a1", "a2", "a3"}), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE_TEMPLATE(a_key_that_rests_does_not_fill_the_window, Source, all_sources, source_case<Source>) {
  this->options.order = message_order::by_key;
  this->options.window = 4;
  this->options.parallel = 2;
  this->options.retry.attempts = 100;
  std::vector<std::string> expected;
  for (int i = 10; i < 30; ++i) expected.push_back("a" + std::to_string(i));
  this->put_all(expected);
  this->put_all({"b1", "b2"});
  bool is_cured = false;
  this->consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "a10" && !is_cured) co_return message_outcome::again(100ms, "not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(this->has_results(2));
  BOOST_TEST(this->results() == std::vector<std::string>({"b1", "b2"}), boost::test_tools::per_element());
  is_cured = true;  // in the same term: the data of the others is read again
  BOOST_TEST_REQUIRE(this->has_results(22));
  auto seen = this->results();
  BOOST_TEST(std::vector<std::string>(seen.begin() + 2, seen.end()) == expected, boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE_TEMPLATE(what_is_settled_out_of_order_is_not_processed_by_the_next_term, Source, all_sources,
                                 source_case<Source>) {
  this->options.order = message_order::none;
  this->options.parallel = 8;
  this->options.retry.first = this->options.retry.longest = 1h;
  bool is_cured = false;
  this->put_all(numbers(1, 40));
  auto& who = this->consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if ((item.data == "3" || item.data == "17") && !is_cured) co_return message_outcome::again("not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(this->run_until([&] { return who.does->status().done == 38 && who.does->status().resting == 2; }));
  is_cured = true;
  who.coordinator.resign();
  BOOST_TEST_REQUIRE(this->has_results(40));
  for (const auto& each : numbers(1, 40)) {
    const bool failed = each == "3" || each == "17";
    BOOST_TEST((who.does->attempts[each] == (failed ? attempt_list{1, 2} : attempt_list{1})), each);
  }
}

BOOST_FIXTURE_TEST_CASE_TEMPLATE(nothing_is_committed_beside_a_newer_term, Source, all_sources, source_case<Source>) {
  this->put_all(numbers(1, 3));
  hold_point held(this->executor());
  auto& who = this->consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "2") co_await held.pass_in_the_end();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(this->run_until([&] { return held.is_reached(); }));
  BOOST_TEST_REQUIRE(this->has_results(1));
  auto newer = this->get("/e").data;
  newer.replace(newer.find(R"("epoch":1)"), 9, R"("epoch":2)");
  this->run(this->zk().async_set("/e", newer, any_version, tuple));
  held.open();
  BOOST_TEST_REQUIRE(this->run_until([&] { return !who.does->ends.empty(); }));
  BOOST_TEST((who.does->ends.front() == term_end::superseded));
  BOOST_TEST(this->results() == numbers(1, 1), boost::test_tools::per_element());
  this->run(this->zk().async_set("/e", "", any_version, tuple));  // the newer term, which nobody leads, is over
  BOOST_TEST_REQUIRE(this->has_results(3));
  BOOST_TEST(this->results() == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE_TEMPLATE(replies_that_are_lost_change_nothing, Source, all_sources, source_case<Source>) {
  this->put_all(numbers(1, 60));
  this->consume(this->connect_far(), &succeed);
  for (std::size_t i = 1; i <= 2; ++i) {
    BOOST_TEST_REQUIRE(this->has_results(16 * i));
    this->own().drop_reply(testcluster::op::multi);
  }
  BOOST_TEST_REQUIRE(this->has_results(60));
  BOOST_TEST(this->results() == numbers(1, 60), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE_TEMPLATE(a_hand_over_loses_and_repeats_nothing, Source, all_sources, source_case<Source>) {
  this->put_all(numbers(1, 60));
  auto& first = this->consume(&succeed);
  auto& second = this->consume(&succeed);
  for (std::size_t i = 1; i <= 2; ++i) {
    BOOST_TEST_REQUIRE(this->has_results(15 * i));
    first.coordinator.resign();
    second.coordinator.resign();
  }
  BOOST_TEST_REQUIRE(this->has_results(60));
  BOOST_TEST(this->results() == numbers(1, 60), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
