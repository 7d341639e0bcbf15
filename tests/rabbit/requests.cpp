// What our client of AMQP says, and what it makes of the answers.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbit/amqp_case.hpp"
#include "rabbitmq/amqp_answer.hpp"
#include "rabbitmq/rabbitmq_c.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

std::string declare_fields(const std::string& queue, int bits, const std::string& arguments) {
  return wire::number(0, 2) + wire::short_text(queue) + wire::number(static_cast<std::uint64_t>(bits), 1) + arguments;
}

error_code judge(std::uint16_t code, const std::string& text, std::uint32_t method) {
  return error_of_refusal({code, method, text});
}

struct confirming_case : amqp_case {
  confirming_case() { open(), confirm(); }
  std::uint64_t put(const std::string& id) { return client.publish("q", id, "k", "data", 1'000); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rabbit_requests)

BOOST_AUTO_TEST_CASE(a_connection_begins_step_by_step) {
  amqp_case talk;
  BOOST_TEST(talk.client.take_output() == std::string("AMQP\0\0\x09\x01", 8));
  talk.client.feed(wire::start());
  const auto login = talk.sent();
  BOOST_TEST_REQUIRE(login.size() == 1u);
  BOOST_TEST(login[0].method() == AMQP_CONNECTION_START_OK_METHOD);
  BOOST_TEST(login[0].payload.ends_with(wire::short_text("PLAIN") +
                                        wire::long_text(std::string("\0smith\0sesame street", 20)) +
                                        wire::short_text("en_US")));
  for (const auto* each : {"publisher_confirms", "basic.nack", "consumer_cancel_notify", "connection.blocked",
                           "authentication_failure_close"}) {
    BOOST_TEST(login[0].payload.find(wire::short_text(each) + "t\x01") != std::string::npos);
  }
  talk.client.feed(wire::tune(200'000, 60));
  const auto tuned = talk.sent();
  BOOST_TEST_REQUIRE(tuned.size() == 2u);
  BOOST_TEST(tuned[0].method() == AMQP_CONNECTION_TUNE_OK_METHOD);
  BOOST_TEST(tuned[0].fields() == wire::number(1, 2) + wire::number(131'072, 4) + wire::number(10, 2));
  BOOST_TEST(tuned[1].fields() == wire::short_text("shop") + wire::short_text("") + wire::number(0, 1));
  talk.client.feed(wire::open_ok());
  BOOST_TEST(talk.sent().at(0).method() == AMQP_CHANNEL_OPEN_METHOD);
  BOOST_TEST(!talk.client.is_open());
  talk.client.feed(wire::channel_open_ok());
  BOOST_TEST(talk.client.is_open());
  BOOST_TEST(talk.client.unsent() == 0u);
}

BOOST_AUTO_TEST_CASE(the_smaller_heartbeat_counts) {
  amqp_case talk;
  talk.client.feed(wire::start() + wire::tune(0, 3));
  BOOST_TEST(talk.client.heartbeat().count() == 3);
  const auto tuned = talk.sent();
  BOOST_TEST(tuned.at(1).fields() == wire::number(1, 2) + wire::number(131'072, 4) + wire::number(3, 2));
}

BOOST_AUTO_TEST_CASE(other_brokers_are_refused) {
  const auto words_after = [](const std::string& bytes) {
    amqp_case talk;
    talk.client.feed(bytes);
    return talk.client.words();
  };
  BOOST_TEST(words_after(std::string("AMQP\0\1\0\0", 8)) == "the broker does not speak AMQP 0-9-1");
  BOOST_TEST(words_after(wire::start(wire::number(0, 4), "AMQPLAIN EXTERNAL PLAINER")) ==
             "the broker takes no user and password (PLAIN)");
  BOOST_TEST(words_after(wire::start() + wire::tune(1'000)) == "the broker wants frames of less than 4096 bytes");
  BOOST_TEST(words_after(wire::tune()) == "the connection does not begin as one of RabbitMQ does");
}

BOOST_AUTO_TEST_CASE(a_refused_login_does_not_repeat_what_was_sent) {
  amqp_case talk;
  talk.client.feed(wire::start() + wire::connection_close(403, "no: sesame street"));
  BOOST_TEST((talk.client.why() == rabbit_errc::refused_credentials));
  BOOST_TEST(talk.client.words() == "user and password were refused");
  talk.client.part();
  const auto last = talk.sent().back();
  BOOST_TEST(last.method() == AMQP_CONNECTION_CLOSE_OK_METHOD);
}

BOOST_AUTO_TEST_CASE(a_queue_is_declared_and_looked_at) {
  amqp_case talk;
  talk.open();
  talk.client.declare("q", unreachable_limit, talk.note());
  talk.client.look_at("q", talk.note());
  talk.client.declare("q", std::nullopt, talk.note());
  const auto sent = talk.sent();
  BOOST_TEST_REQUIRE(sent.size() == 3u);
  const auto type = wire::short_text("x-queue-type") + 'S' + wire::long_text("quorum");
  const auto single = wire::short_text("x-single-active-consumer") + "t\x01";
  const auto limit = wire::short_text("x-delivery-limit") + 'l' + wire::number(1'000'000'000, 8);
  BOOST_TEST(sent[0].fields() == declare_fields("q", 2, wire::long_text(type + single + limit)));
  BOOST_TEST(sent[1].fields() == declare_fields("q", 1, wire::number(0, 4)));
  BOOST_TEST(sent[2].fields() == declare_fields("q", 2, wire::long_text(type + single)));
  talk.client.feed(wire::declare_ok(0, 0) + wire::declare_ok(7, 2));
  BOOST_TEST_REQUIRE(talk.answers.size() == 2u);
  BOOST_TEST(talk.answers[1].messages == 7u);
  BOOST_TEST(talk.answers[1].consumers == 2u);
}

BOOST_AUTO_TEST_CASE(the_request_that_is_refused_gets_the_reason) {
  amqp_case talk;
  talk.open();
  talk.client.declare("a", unreachable_limit, talk.note());
  talk.client.consume(
      "b", 5, [](const amqp_delivery&) {}, talk.note());
  talk.client.look_at("c", talk.note());
  talk.client.take_output();
  const std::string words = "NOT_FOUND - no queue 'b' in vhost 'shop'";
  talk.client.feed(wire::declare_ok(0, 0) + wire::method(1, 60, 11, "") + wire::channel_close(404, words, 60, 20));
  BOOST_TEST_REQUIRE(talk.answers.size() == 3u);
  BOOST_TEST(!talk.answers[0].error);
  BOOST_TEST((talk.answers[1].error == rabbit_errc::missing_queue));
  BOOST_TEST(talk.answers[1].words == words);
  BOOST_TEST((talk.answers[2].error == rabbit_errc::unavailable));
  BOOST_TEST((talk.client.why() == rabbit_errc::missing_queue));
  talk.client.part();
  const auto sent = talk.sent();
  BOOST_TEST_REQUIRE(sent.size() == 2u);
  BOOST_TEST(sent[0].method() == AMQP_CHANNEL_CLOSE_OK_METHOD);
  BOOST_TEST(sent[1].method() == AMQP_CONNECTION_CLOSE_METHOD);
  talk.client.look_at("d", talk.note());
  BOOST_TEST((talk.answers.at(3).error == rabbit_errc::unavailable));
}

BOOST_AUTO_TEST_CASE(a_refusal_that_is_about_no_request_answers_all_with_unavailable) {
  amqp_case talk;
  talk.open();
  talk.client.look_at("q", talk.note());
  talk.client.feed(wire::channel_close(406, "PRECONDITION_FAILED - unknown delivery tag 7", 60, 80));
  BOOST_TEST((talk.answers.at(0).error == rabbit_errc::unavailable));
  BOOST_TEST((talk.client.why() == rabbit_errc::unavailable));
}

BOOST_AUTO_TEST_CASE(the_codes_of_a_broker_have_meanings) {
  constexpr std::uint32_t declare = AMQP_QUEUE_DECLARE_METHOD;
  BOOST_TEST((judge(404, "NOT_FOUND - no queue 'q' in vhost '/'", declare) == rabbit_errc::missing_queue));
  BOOST_TEST((judge(404, "NOT_FOUND - failed to perform operation on queue 'q' in vhost '/' due to timeout", declare) ==
              rabbit_errc::unavailable));
  BOOST_TEST((judge(406, "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'q'", declare) ==
              rabbit_errc::other_queue));
  BOOST_TEST(
      (judge(406, "PRECONDITION_FAILED - invalid arg 'x-queue-type' for queue 'q'", declare) == rabbit_errc::refused));
  BOOST_TEST((judge(406, "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out", 0) ==
              rabbit_errc::unavailable));
  BOOST_TEST((judge(406, "PRECONDITION_FAILED - message size 9 is larger than configured max size 8",
                    AMQP_BASIC_PUBLISH_METHOD) == rabbit_errc::refused));
  BOOST_TEST((judge(403, "ACCESS_REFUSED - access to queue 'q' refused", declare) == rabbit_errc::refused_credentials));
  BOOST_TEST(
      (judge(530, "NOT_ALLOWED - access to vhost '/' refused for user 'u'", 0) == rabbit_errc::refused_credentials));
  BOOST_TEST((judge(530, "NOT_ALLOWED - vhost shop not found", 0) == rabbit_errc::refused));
  BOOST_TEST((judge(530, "NOT_ALLOWED - vhost 'shop' is down", 0) == rabbit_errc::unavailable));
  BOOST_TEST((judge(320, "CONNECTION_FORCED - broker forced connection closure", 0) == rabbit_errc::unavailable));
  for (const std::uint16_t code : {504, 506, 541, 999})
    BOOST_TEST((judge(code, "", declare) == rabbit_errc::unavailable));
  for (const std::uint16_t code : {402, 501, 502, 503, 505, 540})
    BOOST_TEST((judge(code, "", declare) == rabbit_errc::refused));
}

BOOST_AUTO_TEST_CASE(a_consumer_begins_with_its_window) {
  amqp_case talk;
  talk.open();
  talk.client.consume(
      "q", 200, [](const amqp_delivery&) {}, talk.note());
  const auto sent = talk.sent();
  BOOST_TEST_REQUIRE(sent.size() == 2u);
  BOOST_TEST(sent[0].method() == AMQP_BASIC_QOS_METHOD);
  BOOST_TEST(sent[0].fields() == wire::number(0, 4) + wire::number(200, 2) + wire::number(0, 1));
  BOOST_TEST(sent[1].method() == AMQP_BASIC_CONSUME_METHOD);
  talk.client.feed(wire::consume_ok());
  BOOST_TEST_REQUIRE(talk.answers.size() == 1u);
  talk.client.acknowledge(5, true);
  BOOST_TEST(talk.sent().at(0).fields() == wire::number(5, 8) + wire::number(1, 1));
}

BOOST_AUTO_TEST_CASE(headers_and_times_of_a_message_are_read) {
  amqp_case talk;
  talk.open(), talk.consume();
  const auto headers =
      wire::long_text(wire::short_text("key") + 'S' + wire::long_text("k") + wire::short_text("x-delivery-count") +
                      'l' + wire::number(1, 8) + wire::short_text("timestamp_in_ms") + 'l' + wire::number(12'345, 8));
  const auto all = wire::number(1 << 13 | 1 << 7 | 1 << 6, 2) + headers + wire::short_text("m") + wire::number(12, 8);
  talk.client.feed(wire::deliver(1) + wire::head(0, all));
  const auto seconds = wire::number(1 << 6, 2) + wire::number(12, 8);
  talk.client.feed(wire::deliver(2) + wire::head(0, seconds));
  const auto impossible = wire::number(1 << 6, 2) + wire::number(~std::uint64_t{0}, 8);
  talk.client.feed(wire::deliver(3) + wire::head(0, impossible));
  BOOST_TEST_REQUIRE(talk.delivered.size() == 3u);
  BOOST_TEST(talk.delivered[0].key == "k");
  BOOST_TEST(talk.delivered[0].is_redelivered);
  BOOST_TEST(talk.delivered[0].timestamp == 12'345);
  BOOST_TEST(talk.delivered[1].timestamp == 12'000);
  BOOST_TEST(talk.delivered[1].id.empty());
  BOOST_TEST(talk.delivered[2].timestamp == 0);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_consumer_is_the_end) {
  amqp_case talk;
  talk.open(), talk.consume();
  talk.client.look_at("q", talk.note());
  talk.client.feed(wire::method(1, 60, 30, wire::short_text("t") + wire::number(1, 1)));
  BOOST_TEST((talk.client.why() == rabbit_errc::unavailable));
  BOOST_TEST((talk.answers.back().error == rabbit_errc::unavailable));
}

BOOST_AUTO_TEST_CASE(a_message_is_sent_in_frames_of_the_agreed_size) {
  amqp_case talk;
  talk.open(4'096);
  const std::string data(10'000, 'd');
  BOOST_TEST(talk.client.publish("q", "m-1", "tea", data, 12'345) == 1u);
  const auto sent = talk.sent();
  BOOST_TEST_REQUIRE(sent.size() == 5u);
  BOOST_TEST(sent[0].fields() ==
             wire::number(0, 2) + wire::short_text("") + wire::short_text("q") + wire::number(1, 1));
  const auto headers = wire::long_text(wire::short_text("key") + 'S' + wire::long_text("tea") +
                                       wire::short_text("timestamp_in_ms") + 'l' + wire::number(12'345, 8));
  const auto flags = wire::number(1 << 13 | 1 << 12 | 1 << 7 | 1 << 6, 2);
  BOOST_TEST(sent[1].payload == wire::number(60, 2) + wire::number(0, 2) + wire::number(10'000, 8) + flags + headers +
                                    wire::number(2, 1) + wire::short_text("m-1") + wire::number(12, 8));
  BOOST_TEST(sent[2].payload.size() == 4'088u);
  BOOST_TEST(sent[2].payload + sent[3].payload + sent[4].payload == data);
  BOOST_TEST(talk.client.publish("q", "m-2", "", "", 0) == 2u);
  BOOST_TEST(talk.sent().size() == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_key_that_does_not_fit_is_refused_and_not_sent, confirming_case) {
  BOOST_TEST(client.publish("q", "m", std::string(131'072, 'k'), "", 0) == 0u);
  BOOST_TEST((client.why() == rabbit_errc::refused));
  BOOST_TEST(client.unsent() == 0u);
  BOOST_TEST(put("m") == 0u);
}

BOOST_FIXTURE_TEST_CASE(confirms_are_told, confirming_case) {
  for (const auto* each : {"a", "b", "c", "d"}) put(each);
  client.feed(wire::confirmed(2, true) + wire::rejected(4) + wire::confirmed(3));
  BOOST_TEST_REQUIRE(confirms.size() == 3u);
  BOOST_TEST(confirms[0].tag == 2u);
  BOOST_TEST(confirms[0].is_multiple);
  BOOST_TEST(confirms[0].is_taken);
  BOOST_TEST(!confirms[1].is_taken);
  BOOST_TEST(!confirms[2].is_multiple);
  client.feed(wire::confirmed(3) + wire::confirmed(0, true));
  BOOST_TEST(confirms.size() == 3u);
  client.feed(wire::confirmed(5));
  BOOST_TEST((client.why() == rabbit_errc::unexpected_reply));
}

BOOST_FIXTURE_TEST_CASE(a_message_that_comes_back_is_found_by_its_id, confirming_case) {
  put("a"), put("b");
  client.feed(wire::returned("b", "data") + wire::confirmed(2, true));
  BOOST_TEST_REQUIRE(returns.size() == 1u);
  BOOST_TEST(returns[0] == 2u);
  BOOST_TEST(confirms.size() == 1u);
  client.feed(wire::returned("b", ""));
  BOOST_TEST(client.words() == "the broker returns a message that was not sent");
}

BOOST_FIXTURE_TEST_CASE(a_broker_that_wants_a_pause_is_heard, confirming_case) {
  client.feed(wire::method(0, 10, 60, wire::short_text("low on memory")));
  BOOST_TEST(client.wants_pause());
  BOOST_TEST(client.pause_reason() == "low on memory");
  client.feed(wire::method(1, 20, 20, wire::number(0, 1)) + wire::method(0, 10, 61, ""));
  BOOST_TEST(client.wants_pause());
  client.feed(wire::method(1, 20, 20, wire::number(1, 1)));
  BOOST_TEST(!client.wants_pause());
  const auto sent = this->sent();
  BOOST_TEST_REQUIRE(sent.size() == 2u);
  BOOST_TEST(sent[0].method() == AMQP_CHANNEL_FLOW_OK_METHOD);
  BOOST_TEST(sent[0].fields() == wire::number(0, 1));
  BOOST_TEST(sent[1].fields() == wire::number(1, 1));
}

BOOST_AUTO_TEST_CASE(a_pause_may_be_asked_for_before_the_channel_is_open) {
  amqp_case talk;
  talk.client.feed(wire::start() + wire::tune() + wire::open_ok() +
                   wire::method(0, 10, 60, wire::short_text("low on disk")));
  BOOST_TEST(talk.client.wants_pause());
  talk.client.feed(wire::channel_open_ok());
  BOOST_TEST(talk.client.is_open());
}

BOOST_AUTO_TEST_CASE(nobody_is_called_after_the_client_was_abandoned) {
  amqp_case talk;
  talk.open();
  talk.client.look_at("q", talk.note());
  talk.client.abandon();
  talk.client.feed(wire::declare_ok(1, 1));
  talk.client.end(rabbit_errc::unavailable, "lost");
  BOOST_TEST(talk.answers.empty());
}

BOOST_AUTO_TEST_SUITE_END()
