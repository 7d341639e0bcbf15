// What our client of AMQP makes of queues that are counted and are missing.
#include <string>

#include <amqp.h>
#include <amqp_framing.h>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbit/amqp_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

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
