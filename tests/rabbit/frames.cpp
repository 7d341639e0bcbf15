// The bytes of a broker, good ones in pieces and bad ones of all kinds.
#include <algorithm>
#include <string>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbit/amqp_case.hpp"
#include "rabbitmq/amqp_answer.hpp"
#include "rabbitmq/amqp_frame_reader.hpp"

using namespace std::literals;
using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

constexpr std::uint64_t most_bytes = 128 << 20;

/// The broker's part of a connection on which two messages are delivered.
std::string conversation() {
  const auto headers = wire::table("key", 'S' + wire::long_text("tea"));
  return wire::welcome() + wire::heartbeat() + wire::consume_ok() + wire::message(1, "m-1", "green") +
         wire::deliver(2, true) + wire::head(6, wire::with_headers(headers, "m-2")) + wire::heartbeat() +
         wire::body("bla") + wire::body("ck!");
}

/// Feeds a client with pieces that end at these places.
struct conversation_case : amqp_case {
  void hear(std::string_view bytes, std::size_t piece) {
    while (!bytes.empty()) {
      const auto size = std::min(piece, bytes.size());
      client.feed(bytes.substr(0, size));
      bytes.remove_prefix(size);
      if (client.is_open() && !has_consumer) consume_now();
    }
  }
  void consume_now() {
    has_consumer = true;
    client.consume(
        "q", 10, [this](amqp_delivery each) { delivered.push_back(std::move(each)); }, note());
  }
  void require_all() {
    BOOST_TEST(client.is_open());
    BOOST_TEST_REQUIRE(delivered.size() == 2u);
    BOOST_TEST(delivered[0].data == "green");
    BOOST_TEST(delivered[0].id == "m-1");
    BOOST_TEST(!delivered[0].is_redelivered);
    BOOST_TEST(delivered[1].tag == 2u);
    BOOST_TEST(delivered[1].data == "black!");
    BOOST_TEST(delivered[1].key == "tea");
    BOOST_TEST(delivered[1].is_redelivered);
  }

  bool has_consumer = false;
};

struct open_case : amqp_case {
  open_case() { open(), consume(); }
  /// The client ends because of these bytes, and says nothing more to its handlers.
  void refuse(const std::string& bytes, const std::string& words) {
    client.feed(bytes);
    BOOST_TEST(client.is_over());
    BOOST_TEST((client.why() == rabbit_errc::unexpected_reply));
    BOOST_TEST(client.words() == words);
    client.feed(wire::message(9, "late", "x"));
    BOOST_TEST(delivered.empty());
  }
  /// The message, which has tag 1, is delivered with its problem, and the next one without.
  void take_problem(const std::string& bytes, const std::string& words) {
    client.feed(bytes + wire::message(2, "next", "x"));
    BOOST_TEST_REQUIRE(delivered.size() == 2u);
    BOOST_TEST(delivered[0].tag == 1u);
    BOOST_TEST(delivered[0].problem == words);
    BOOST_TEST(delivered[1].id == "next");
    BOOST_TEST(delivered[1].problem == "");
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rabbit_frames)

BOOST_AUTO_TEST_CASE(bytes_may_be_cut_anywhere) {
  const auto before = wire::welcome().size();
  const auto bytes = conversation();
  for (std::size_t piece = 1; piece <= before; ++piece) {
    conversation_case talk;
    talk.hear(std::string_view(bytes).substr(0, before), piece);
    talk.hear(std::string_view(bytes).substr(before), piece);
    talk.require_all();
  }
  for (std::size_t cut = before; cut < bytes.size(); ++cut) {
    conversation_case talk;
    talk.hear(std::string_view(bytes).substr(0, before), before);
    talk.hear(std::string_view(bytes).substr(before, cut - before), bytes.size());
    talk.hear(std::string_view(bytes).substr(cut), bytes.size());
    talk.require_all();
  }
}

BOOST_AUTO_TEST_CASE(each_byte_may_be_wrong) {
  const auto bytes = conversation();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int other : {0x00, 0x01, 0x7f, 0xff}) {
      auto bad = bytes;
      bad[at] = static_cast<char>(other);
      conversation_case talk;
      talk.hear(bad, 50);
      BOOST_TEST(talk.delivered.size() <= 2u);
      BOOST_TEST(talk.client.is_over() == bool(talk.client.why()));
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_frame_without_its_end_is_refused, open_case) {
  auto bytes = wire::heartbeat();
  bytes.back() = 'x';
  refuse(bytes, "a frame has no end");
}

BOOST_FIXTURE_TEST_CASE(a_frame_that_is_too_large_is_refused_by_its_head, open_case) {
  refuse(wire::number(3, 1) + wire::number(1, 2) + wire::number(0xffffffff, 4), "a frame has 4294967303 bytes");
}

BOOST_AUTO_TEST_CASE(the_agreed_size_of_frames_is_the_limit) {
  amqp_case talk;
  talk.open(4'096);
  talk.consume();
  const std::string most(4'088, 'a');
  talk.client.feed(wire::deliver(1) + wire::head(2 * most.size(), wire::id_only("m")) + wire::body(most));
  BOOST_TEST(talk.client.is_open());
  talk.client.feed(wire::body(most + 'a'));
  BOOST_TEST(talk.client.words() == "a frame has 4097 bytes");
}

BOOST_FIXTURE_TEST_CASE(a_frame_of_an_unknown_kind_or_channel_is_refused, open_case) {
  refuse(wire::frame(4, 1, "abcd"), "a frame is none of AMQP's");
  for (const auto& bytes : {wire::frame(1, 2, wire::number(0x00320011, 4)), wire::frame(3, 0, "data"),
                            wire::frame(1, 1, "abc"), wire::frame(1, 0, "")}) {
    open_case other;
    other.refuse(bytes, "a frame is none of AMQP's");
  }
}

BOOST_FIXTURE_TEST_CASE(content_without_a_method_is_refused, open_case) {
  refuse(wire::head(3, wire::id_only("m")), "a part of a message comes without it");
  open_case other;
  other.refuse(wire::body("abc"), "a part of a message comes without it");
}

BOOST_FIXTURE_TEST_CASE(a_message_that_is_interrupted_is_refused, open_case) {
  refuse(wire::deliver(1) + wire::deliver(2), "a message is interrupted");
  open_case headless;
  headless.refuse(wire::deliver(1) + wire::body("abc"), "a part of a message comes without it");
  open_case twice;
  twice.refuse(wire::deliver(1) + wire::head(3, wire::id_only("m")) + wire::head(3, wire::id_only("m")),
               "a part of a message comes without it");
}

BOOST_FIXTURE_TEST_CASE(a_message_has_the_size_that_was_announced, open_case) {
  refuse(wire::deliver(1) + wire::head(3, wire::id_only("m")) + wire::body("ab") + wire::body("cd"),
         "a message has more bytes than were announced");
  open_case large;
  large.client.feed(wire::deliver(1) + wire::head(most_bytes, wire::id_only("m")));
  BOOST_TEST(large.client.is_open());
}

BOOST_FIXTURE_TEST_CASE(of_a_message_that_is_too_large_the_beginning_is_delivered, open_case) {
  const auto frame = wire::body(std::string(1 << 16, 'a'));
  client.feed(wire::deliver(1) + wire::head(most_bytes + 1, wire::id_only("m")));
  for (auto left = most_bytes; left > 0; left -= 1 << 16) client.feed(frame);
  BOOST_TEST(delivered.empty());
  take_problem(wire::body("b"), "the message has 134217729 bytes, more than 128 MiB");
  BOOST_TEST(delivered[0].id == "m");
  BOOST_TEST(delivered[0].data.size() == most_bytes);
  BOOST_TEST(delivered[0].data.back() == 'a');
}

BOOST_FIXTURE_TEST_CASE(a_message_whose_properties_can_not_be_read_is_delivered_without_them, open_case) {
  const auto second_word = wire::number(1 << 7 | 1, 2) + wire::number(0, 2) + wire::short_text("m");
  for (const auto& bad : {second_word, wire::number(1 << 7, 2) + wire::number(200, 1) + "short",
                          wire::number(1 << 13, 2) + "abc", std::string("\x80", 1)}) {
    open_case other;
    other.take_problem(wire::deliver(1) + wire::head(3, bad) + wire::body("tea"),
                       "the properties of the message can not be read");
    BOOST_TEST(other.delivered[0].id == "");
    BOOST_TEST(other.delivered[0].data == "tea");
  }
  take_problem(wire::deliver(1) + wire::head(3, wire::with_headers(wire::table("a", "?"), "m")) + wire::body("tea"),
               "the headers of the message can not be read");
  BOOST_TEST(delivered[0].id == "m");
  BOOST_TEST(delivered[0].data == "tea");
  open_case other_class;
  other_class.refuse(wire::deliver(1) + wire::frame(2, 1, wire::number(50, 2) + wire::number(0, 12)),
                     "the content header of a message is malformed");
}

BOOST_AUTO_TEST_CASE(tables_have_sixteen_levels_at_most) {
  BOOST_TEST(begins_with_table(wire::nested_tables(16)));
  BOOST_TEST(!begins_with_table(wire::nested_tables(17)));
  std::string arrays = wire::number(0, 4);
  for (int level = 2; level < 16; ++level) arrays = wire::long_text('A' + arrays);
  BOOST_TEST(begins_with_table(wire::table("a", 'A' + arrays)));
  BOOST_TEST(!begins_with_table(wire::table("a", 'A' + wire::long_text('A' + arrays))));
}

BOOST_AUTO_TEST_CASE(deep_tables_are_refused_in_a_greeting) {
  amqp_case talk;
  talk.client.feed(wire::start(wire::nested_tables(17)));
  BOOST_TEST((talk.client.why() == rabbit_errc::unexpected_reply));
  BOOST_TEST(talk.client.words() == "the greeting can not be read");
}

// Nothing that is nested is read: a table of text, too, may stand in it. A table is not the key.
BOOST_FIXTURE_TEST_CASE(what_is_nested_in_headers_is_passed_over, open_case) {
  const auto entry = [](const std::string& name, const std::string& value) { return wire::short_text(name) + value; };
  const auto key = entry("key", 'S' + wire::long_text("tea"));
  for (const auto& nested : {wire::nested_tables(20'000 / 7), wire::long_text("no table")}) {
    for (const auto& kind : {"F", "A"}) {
      const auto headers = entry("a", kind + nested) + key + entry("key", kind + nested) +
                           entry("timestamp_in_ms", 'l' + wire::number(1'234, 8));
      open_case other;
      other.client.feed(wire::deliver(1) + wire::head(0, wire::with_headers(wire::long_text(headers), "m")));
      BOOST_TEST_REQUIRE(other.delivered.size() == 1u);
      BOOST_TEST(other.delivered[0].problem == "");
      BOOST_TEST(other.delivered[0].id == "m");
      BOOST_TEST(other.delivered[0].key == "tea");
      BOOST_TEST(other.delivered[0].timestamp == 1'234);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_numbers_in_headers_are_read) {
  const auto timestamp_of = [](const std::string& value) {
    open_case talk;
    talk.client.feed(wire::deliver(1) + wire::head(0, wire::with_headers(wire::table("timestamp_in_ms", value), "m")));
    return talk.delivered.at(0).timestamp;
  };
  BOOST_TEST(timestamp_of('b' + wire::number(7, 1)) == 7);
  BOOST_TEST(timestamp_of('b' + wire::number(200, 1)) == 0);  // it is negative
  BOOST_TEST(timestamp_of('B' + wire::number(200, 1)) == 200);
  BOOST_TEST(timestamp_of('s' + wire::number(50'000, 2)) == 0);
  BOOST_TEST(timestamp_of('u' + wire::number(50'000, 2)) == 50'000);
  BOOST_TEST(timestamp_of('I' + wire::number(3'000'000'000, 4)) == 0);
  BOOST_TEST(timestamp_of('i' + wire::number(3'000'000'000, 4)) == 3'000'000'000);
  BOOST_TEST(timestamp_of('l' + wire::number(3'000'000'000, 8)) == 3'000'000'000);
  BOOST_TEST(timestamp_of('T' + wire::number(3'000'000'000, 8)) == 0);
  BOOST_TEST(timestamp_of('S' + wire::long_text("7")) == 0);
}

BOOST_AUTO_TEST_CASE(all_kinds_of_values_are_known) {
  const auto all = "t1"s + "b1" + "B1" + "s12" + "u12" + "I1234" + "i1234" + "l12345678" + "L12345678" + "f1234" +
                   "d12345678" + "D12345" + "T12345678" + "V" + 'S' + wire::long_text("a") + 'x' +
                   wire::long_text("b") + 'F' + wire::table("c", "V") + 'A' + wire::number(0, 4);
  BOOST_TEST(begins_with_table(wire::table("all", 'A' + wire::long_text(all))));
  open_case talk;
  talk.client.feed(wire::deliver(1) +
                   wire::head(0, wire::with_headers(wire::table("all", 'A' + wire::long_text(all)), "m")));
  BOOST_TEST_REQUIRE(talk.delivered.size() == 1u);
  BOOST_TEST(talk.delivered[0].id == "m");
  for (std::size_t size = 0; size < all.size(); ++size) {
    const auto cut = wire::table("all", 'A' + wire::number(all.size(), 4) + all.substr(0, size));
    BOOST_TEST(!begins_with_table(cut));
  }
}

BOOST_FIXTURE_TEST_CASE(a_method_that_is_not_expected_is_refused, open_case) {
  refuse(wire::method(1, 50, 11, wire::short_text("q") + wire::number(0, 8)), "the broker answers nothing");
  for (const auto& [of_class, id] : {std::pair{99, 1}, {50, 10}, {60, 20}, {10, 10}, {20, 11}, {60, 71}}) {
    open_case other;
    other.refuse(wire::method(1, static_cast<std::uint16_t>(of_class), static_cast<std::uint16_t>(id), ""),
                 "the broker answers nothing");
  }
  open_case elsewhere;
  elsewhere.refuse(wire::method(0, 60, 80, wire::number(1, 8) + wire::number(0, 1)),
                   "the broker says something that is not expected");
}

BOOST_FIXTURE_TEST_CASE(a_method_that_is_cut_short_is_refused, open_case) {
  const std::string words = "a method can not be read";
  refuse(wire::method(1, 60, 60, wire::short_text("t") + wire::number(1, 4)), words);
  for (const auto id : {80, 120}) {
    open_case other;
    other.refuse(wire::method(1, 60, static_cast<std::uint16_t>(id), "abc"), words);
  }
  open_case closing;
  closing.refuse(wire::method(1, 20, 40, wire::number(404, 2)), words);
}

BOOST_FIXTURE_TEST_CASE(a_tag_that_is_not_new_is_refused, open_case) {
  refuse(wire::deliver(0), "the broker delivers a message with a tag that is not new");
}

BOOST_AUTO_TEST_CASE(a_message_for_nobody_is_refused) {
  amqp_case talk;
  talk.open();
  talk.client.feed(wire::deliver(1));
  BOOST_TEST(talk.client.words() == "the broker delivers a message, and no consumer was asked for");
}

BOOST_FIXTURE_TEST_CASE(heartbeats_change_nothing, open_case) {
  client.feed(wire::heartbeat() + wire::deliver(1) + wire::heartbeat());
  client.feed(wire::head(0, wire::id_only("m")) + wire::heartbeat());
  BOOST_TEST_REQUIRE(delivered.size() == 1u);
  BOOST_TEST(delivered[0].data.empty());
  client.beat();
  BOOST_TEST(client.take_output() == wire::heartbeat());
}

BOOST_AUTO_TEST_SUITE_END()

// The version of a broker, and the delivery limit of its queues.

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
