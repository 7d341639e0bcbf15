// The version of a broker, and the delivery limit of its queues.
#include <string>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbit/amqp_case.hpp"
#include "rabbitmq/delivery_limit.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

BOOST_AUTO_TEST_SUITE(rabbit_limits)

BOOST_AUTO_TEST_CASE(the_version_of_the_broker_is_read) {
  const auto major_of = [](const std::string& properties) {
    amqp_case talk;
    talk.client.feed(wire::start(properties));
    return talk.client.major_version();
  };
  BOOST_TEST(major_of(wire::table("version", 'S' + wire::long_text("3.10.8"))) == 3);
  BOOST_TEST(major_of(wire::table("version", 'S' + wire::long_text("4.0.5"))) == 4);
  BOOST_TEST(major_of(wire::table("version", 'S' + wire::long_text("next"))) == 0);
  BOOST_TEST(major_of(wire::table("version", "t\x01")) == 0);
  BOOST_TEST(major_of(wire::number(0, 4)) == 0);
  BOOST_TEST((limits_by_itself(4) && limits_by_itself(0) && !limits_by_itself(3)));
}

// The words are those of RabbitMQ 3.10.8 and 4.0.5.
BOOST_AUTO_TEST_CASE(a_queue_that_has_another_delivery_limit_tells_it) {
  const std::string head = "PRECONDITION_FAILED - inequivalent arg 'x-delivery-limit' for queue 'q' in vhost '/': ";
  const auto answer_to = [](const std::string& words) {
    amqp_case talk;
    talk.open();
    talk.client.declare("q", unreachable_limit, talk.note());
    talk.client.feed(wire::channel_close(406, words, 50, 10));
    return talk.answers.at(0);
  };
  const auto left = [&](const std::string& words, error_code& error) {
    delivery_limit limit = unreachable_limit;
    error = judge_declared(limit, answer_to(words));
    return limit;
  };
  error_code error;
  const std::string received = "received the value '1000000000' of type 'long' but current is ";
  BOOST_TEST((left(head + received + "none", error) == delivery_limit()));
  BOOST_TEST((error == rabbit_errc::unavailable));
  BOOST_TEST((left(head + "received '1000000000' but current is '5000'", error) == delivery_limit(5'000)));
  BOOST_TEST((error == rabbit_errc::unavailable));
  BOOST_TEST((left(head + "received '1000000000' but current is '-1'", error) == delivery_limit(-1)));
  BOOST_TEST((error == rabbit_errc::unavailable));
  BOOST_TEST((left(head + received.substr(0, 20), error) == delivery_limit()));  // cut off
  BOOST_TEST((error == rabbit_errc::unavailable));
  left(head + received + "the value '20' of type 'long'", error);
  BOOST_TEST((error == rabbit_errc::other_queue));
  left("PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'q': received none but current is none", error);
  BOOST_TEST((error == rabbit_errc::other_queue));
}

BOOST_AUTO_TEST_CASE(what_was_declared_without_a_limit_and_refused_is_another_queue) {
  amqp_answer answer;
  answer.error = rabbit_errc::other_queue;
  answer.standing = delivery_limit();
  delivery_limit limit;
  BOOST_TEST((judge_declared(limit, answer) == rabbit_errc::other_queue));
}

BOOST_AUTO_TEST_SUITE_END()
