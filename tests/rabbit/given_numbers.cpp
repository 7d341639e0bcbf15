// Numbers that come from a file which feeds several queues: what is told of their holes, and what a consumer remembers.
#include <cstdint>
#include <string>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "external/delivery_memory.hpp"
#include "rabbit/amqp_case.hpp"
#include "rabbitmq/message_numbering.hpp"
#include "rabbitmq/queue_progress.hpp"
#include "rabbitmq/rabbitmq_c.hpp"

using namespace zkrecipes::test;
using namespace zkrecipes::detail;

namespace {

struct given_numbers_case {
  given_numbers numbers{nullptr};

  std::uint64_t first_of(std::uint32_t shard, std::uint64_t number, std::uint64_t epoch = 7) {
    const auto found = numbers.next(shard, {epoch, number, 0});
    BOOST_TEST(found.epoch == epoch);
    BOOST_TEST(found.number == number);
    return found.first;
  }
};

/// A consumer of one queue.
struct remembering {
  queue_progress progress{100};
  std::uint64_t tag = 0;

  /// Whether it is handed out.
  bool deliver(std::uint64_t number, std::uint64_t first) {
    amqp_delivery what;
    what.tag = ++tag;
    what.id = to_string(numbered_id{"p:0", 7, number});
    what.first = first;
    const auto name = progress.take(what);
    if (name) progress.hand_out(*name, true);
    return name.has_value();
  }
  void settle(std::uint64_t number) { progress.settle(to_string(numbered_id{"p:0", 7, number})); }
  bool knows(std::uint64_t number) const { return progress.memory().knows(to_string(numbered_id{"p:0", 7, number})); }
  std::string record() const { return serialize(progress.memory()); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rabbit_given_numbers)

BOOST_FIXTURE_TEST_CASE(the_numbers_between_two_messages_of_a_queue_went_elsewhere, given_numbers_case) {
  BOOST_TEST(first_of(0, 10) == 10u);  // nothing is known of those before
  BOOST_TEST(first_of(1, 11) == 11u);
  BOOST_TEST(first_of(1, 12) == 0u);  // there is no hole
  BOOST_TEST(first_of(0, 13) == 11u);
  BOOST_TEST(first_of(0, 14) == 0u);
  BOOST_TEST(first_of(1, 15) == 13u);
}

BOOST_FIXTURE_TEST_CASE(nothing_is_known_when_numbers_begin_anew, given_numbers_case) {
  first_of(0, 10), first_of(1, 11);
  BOOST_TEST(first_of(0, 10) == 10u);  // it is put again
  BOOST_TEST(first_of(1, 11) == 11u);
  BOOST_TEST(first_of(0, 12) == 11u);
  BOOST_TEST(first_of(0, 14) == 14u);  // there is a hole
  BOOST_TEST(first_of(0, 15, 8) == 15u);
  BOOST_TEST(first_of(1, 16, 8) == 16u);
  BOOST_TEST(first_of(0, 17, 8) == 16u);
}

BOOST_AUTO_TEST_CASE(the_next_message_tells_of_numbers_that_were_not_put) {
  claimed_numbers numbers(nullptr, "p");
  const auto first_of_next = [&](std::uint64_t number) {
    const auto next = numbers.next(0, {});
    BOOST_TEST(next.number == number);
    return next.first;
  };
  BOOST_TEST(first_of_next(1) == 0u);
  numbers.skip(0, 1, 1);
  BOOST_TEST(first_of_next(2) == 1u);
  BOOST_TEST(first_of_next(3) == 0u);
  numbers.skip(0, 3, 0);  // it may be put
  BOOST_TEST(first_of_next(4) == 4u);
  BOOST_TEST(first_of_next(5) == 0u);
  numbers.skip(0, 4, 4);  // 5 was confirmed before: it must not be in a range of others
  BOOST_TEST(first_of_next(6) == 6u);
}

BOOST_FIXTURE_TEST_CASE(a_consumer_remembers_one_range, remembering) {
  BOOST_TEST(deliver(3, 0));
  BOOST_TEST(deliver(7, 4));
  BOOST_TEST(deliver(9, 8));
  settle(3);
  settle(9);
  BOOST_TEST(!knows(7));
  BOOST_TEST(knows(8));
  BOOST_TEST(record().find("\"3,8-9 7 p:0\"") != std::string::npos, record());
  settle(7);
  BOOST_TEST(record().find("\"3-9 7 p:0\"") != std::string::npos, record());
  BOOST_TEST(!knows(2));
  BOOST_TEST(!deliver(7, 0));
}

BOOST_FIXTURE_TEST_CASE(what_a_message_tells_is_kept_while_it_is_in_hand, remembering) {
  BOOST_TEST(deliver(3, 2));
  progress.lose();
  settle(3);
  BOOST_TEST(record().find("\"2-3 7 p:0\"") != std::string::npos, record());
}

BOOST_FIXTURE_TEST_CASE(what_tells_nonsense_is_remembered_alone, remembering) {
  BOOST_TEST(deliver(3, 4));
  settle(3);
  BOOST_TEST(record().find("\"3 7 p:0\"") != std::string::npos, record());
}

BOOST_FIXTURE_TEST_CASE(numbers_that_have_not_come_are_missed_once, remembering) {
  const auto missed = [this] { return progress.take_missing(); };
  for (const std::uint64_t each : {1, 2, 3}) deliver(each, 0);
  settle(2);
  BOOST_TEST(missed().empty());
  deliver(7, 0);
  BOOST_TEST((missed() == std::vector<std::string>{"4-6 7 p:0"}));
  deliver(8, 0);
  deliver(12, 9);   // 9 to 11 were put nowhere
  deliver(20, 20);  // the producer does not know
  BOOST_TEST(missed().empty());
  BOOST_TEST(record().find(R"("missing":["4-6 7 p:0"],"unknown":["13-19 7 p:0"])") != std::string::npos, record());
  for (const std::uint64_t each : {3, 7, 8, 12, 20}) settle(each);
  auto stored = parse_delivery_memory(record());
  BOOST_TEST_REQUIRE(stored.has_value());
  progress.open(std::move(*stored));  // 1 was given out, and comes no more
  deliver(21, 0);
  BOOST_TEST((missed() == std::vector<std::string>{"1 7 p:0"}));
  progress.lose();
  deliver(22, 0);
  BOOST_TEST(missed().empty());
  deliver(30, 30);
  BOOST_TEST(record().find(R"("unknown":["13-19,23-29 7 p:0"])") != std::string::npos, record());
}

BOOST_FIXTURE_TEST_CASE(a_message_in_hand_stands_for_its_whole_range, remembering) {
  deliver(3, 2);
  progress.lose();
  deliver(4, 0);
  BOOST_TEST((progress.take_missing() == std::vector<std::string>{"1 7 p:0"}));
}

// A queue with `reject-publish` has rejected 5, and has taken 6; then it takes 5.
BOOST_FIXTURE_TEST_CASE(numbers_that_come_in_the_end_are_missed_no_more, remembering) {
  for (const std::uint64_t each : {1, 2, 6}) deliver(each, 0);
  BOOST_TEST(record().find(R"("missing":["3-5 7 p:0"])") != std::string::npos, record());
  deliver(5, 0);
  settle(5);
  BOOST_TEST(record().find(R"("missing":["3-4 7 p:0"])") != std::string::npos, record());
  deliver(4, 3);  // 3 was put nowhere
  settle(4);
  BOOST_TEST(record().find("missing") == std::string::npos, record());
  BOOST_TEST(deliver(9, 0));
  BOOST_TEST((progress.take_missing() == std::vector<std::string>{"3-5 7 p:0", "7-8 7 p:0"}));
}

BOOST_AUTO_TEST_CASE(it_is_a_header_of_the_message) {
  amqp_case talk;
  talk.open();
  BOOST_TEST(talk.client.publish("q", "m", "tea", "", 12'345, 77) == 1u);
  const auto sent = talk.sent();
  BOOST_TEST_REQUIRE(sent.size() == 2u);
  const auto header = wire::short_text("zkr-first") + 'l' + wire::number(77, 8);
  BOOST_TEST(sent[1].payload.find(header) != std::string::npos);
  amqp_case reads;
  reads.open(), reads.consume();
  reads.client.feed(wire::deliver(1) + wire::frame(2, 1, sent[1].payload));
  BOOST_TEST_REQUIRE(reads.delivered.size() == 1u);
  BOOST_TEST(reads.delivered[0].first == 77u);
  BOOST_TEST(reads.delivered[0].key == "tea");
  talk.client.publish("q", "n", "tea", "", 12'345);
  BOOST_TEST(talk.sent()[1].payload.find("zkr-first") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

// What our client of AMQP makes of queues that are counted and are missing.

using namespace zkrecipes;

BOOST_AUTO_TEST_SUITE(rabbit_counting)

BOOST_AUTO_TEST_CASE(a_missing_queue_that_is_counted_ends_the_channel_only) {
  amqp_case talk;
  talk.open();
  for (const auto* each : {"a", "b", "c"}) talk.client.count(each, talk.note());
  talk.client.take_output();
  const std::string words = "NOT_FOUND - no queue 'b' in vhost 'shop'";
  talk.client.feed(wire::declare_ok(3, 1) + wire::channel_close(404, words, 50, 10));
  BOOST_TEST_REQUIRE(talk.answers.size() == 3u);
  BOOST_TEST(talk.answers[0].messages == 3u);
  BOOST_TEST((talk.answers[1].error == rabbit_errc::missing_queue));
  BOOST_TEST(talk.answers[1].words == words);
  BOOST_TEST((talk.answers[2].error == rabbit_errc::unavailable));
  BOOST_TEST(talk.client.is_open());
  talk.client.count("c", talk.note());
  const auto sent = talk.sent();
  BOOST_TEST_REQUIRE(sent.size() == 3u);
  BOOST_TEST(sent[0].method() == AMQP_CHANNEL_CLOSE_OK_METHOD);
  BOOST_TEST(sent[1].method() == AMQP_CHANNEL_OPEN_METHOD);
  BOOST_TEST(sent[2].method() == AMQP_QUEUE_DECLARE_METHOD);
  talk.client.feed(wire::channel_open_ok() + wire::declare_ok(7, 0));
  BOOST_TEST_REQUIRE(talk.answers.size() == 4u);
  BOOST_TEST(!talk.answers[3].error);
  BOOST_TEST(talk.answers[3].messages == 7u);
}

BOOST_AUTO_TEST_CASE(a_channel_with_messages_is_not_opened_anew) {
  const auto miss_queue = [](amqp_case& talk) {
    talk.client.count("q", talk.note());
    talk.client.take_output();
    talk.client.feed(wire::channel_close(404, "NOT_FOUND - no queue 'q' in vhost 'shop'", 50, 10));
    BOOST_TEST((talk.answers.back().error == rabbit_errc::missing_queue));
    BOOST_TEST(talk.client.is_over());
    BOOST_TEST(talk.sent().size() == 1u);
  };
  amqp_case consuming;
  consuming.open();
  consuming.consume();
  miss_queue(consuming);
  amqp_case confirming;
  confirming.open();
  confirming.confirm();
  miss_queue(confirming);
}

BOOST_AUTO_TEST_CASE(a_count_that_is_refused_for_another_reason_ends_the_connection) {
  for (const auto* words : {"NOT_FOUND - failed to perform operation on queue 'q' in vhost '/' due to timeout",
                            "NOT_FOUND - home node 'a@b' of durable queue 'q' in vhost '/' is down or inaccessible"}) {
    amqp_case talk;
    talk.open();
    talk.client.count("q", talk.note());
    talk.client.feed(wire::channel_close(404, words, 50, 10));
    BOOST_TEST((talk.answers.at(0).error == rabbit_errc::unavailable));
    BOOST_TEST(talk.client.is_over());
  }
}

BOOST_AUTO_TEST_SUITE_END()
