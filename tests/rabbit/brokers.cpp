// Brokers that are away, that are killed, that refuse, and that are none.
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <zkrecipes/rabbitmq/rabbit_producer.hpp>

#include "brokers/false_broker.hpp"
#include "rabbit/rabbit_case.hpp"
#include "rabbit/server_bytes.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using asio::ip::tcp;

/// Says the same to each client, when it has said something, and nothing more.
asio::awaitable<void> say_words(tcp::socket socket, std::string words) {
  std::string heard(1'024, '\0');
  auto [first_error, first_size] = co_await socket.async_read_some(asio::buffer(heard), tuple);
  if (first_error) co_return;
  auto [write_error, written] = co_await asio::async_write(socket, asio::buffer(words), tuple);
  for (bool is_open = !write_error; is_open;) {
    auto [read_error, size] = co_await socket.async_read_some(asio::buffer(heard), tuple);
    is_open = !read_error;
  }
}

/// What a broker answers to these bytes, whose queue has these messages. The bytes are taken.
std::string answers_to(std::string& heard, const std::string& messages) {
  std::string words;
  if (heard.starts_with("AMQP")) {
    heard.erase(0, 8);
    words = wire::welcome();
  }
  for (const auto& each : wire::frames_in(heard)) {
    heard.erase(0, each.payload.size() + 8);
    if (each.method() == AMQP_QUEUE_DECLARE_METHOD) words += wire::declare_ok(0, 0);
    if (each.method() == AMQP_BASIC_CONSUME_METHOD) words += wire::consume_ok() + messages;
  }
  return words;
}

asio::awaitable<void> serve_queue(tcp::socket socket, std::string messages) {
  std::string heard, some(1'024, '\0');
  for (;;) {
    auto [read_error, size] = co_await socket.async_read_some(asio::buffer(some), tuple);
    if (read_error) co_return;
    heard.append(some, 0, size);
    const auto words = answers_to(heard, messages);
    auto [write_error, written] = co_await asio::async_write(socket, asio::buffer(words), tuple);
    if (write_error) co_return;
  }
}

struct brokers_case : rabbit_case {
  /// The queue was made with it.
  void check_limit_is_taken(std::optional<std::int64_t> limit) {
    client().declare(queue(), limit);
    consume(&succeed);
    const auto with_log = connect(logging());
    rabbit_producer shop(rabbit_queues(with_log, "/t", with), "shop");
    for (const auto& each : numbers(1, 5)) BOOST_TEST(!std::get<0>(run(shop.async_put("k", each, tuple))));
    BOOST_TEST_REQUIRE(has_results(5));
    BOOST_TEST(results() == numbers(1, 5), boost::test_tools::per_element());
    BOOST_TEST(!has_logged("PRECONDITION_FAILED"));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rabbit_brokers, brokers_case)

#include "brokers/broker_cases.hpp"

BOOST_AUTO_TEST_CASE(under_kills_of_the_broker_each_message_is_consumed_once_and_in_order) {
  auto& who = consume(&succeed);
  put_all(numbers(1, 40));
  for (int kills = 1; kills <= 3; ++kills) {
    const auto done = who.does.status().done;
    for (const auto& each : numbers(40 * kills + 1, 40 * kills + 40)) put_in_the_end(each);
    BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done > done || kills % 2 == 0; }));
    await_kept();
    broker().kill();
    client().disconnect();
    beside([&] { broker().start(); });
  }
  put_in_the_end("161");
  BOOST_TEST_REQUIRE(has_results(161));
  BOOST_TEST(results() == numbers(1, 161), boost::test_tools::per_element());
  BOOST_TEST(has_logged("connection_lost rabbitmq"));
}

BOOST_AUTO_TEST_CASE(a_broker_that_falls_silent_is_left_and_tried_again) {
  with.heartbeat = 1s;
  with.timeout = 500ms;
  auto& between = use_proxy();
  consume(&succeed);
  put_all({"1"});
  BOOST_TEST_REQUIRE(has_results(1));
  between.freeze(true);
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connection_lost rabbitmq"); }));
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connect_failed rabbitmq"); }));
  between.freeze(false);
  put_all({"2"});
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
}

// The consumer finds out by the heartbeats that the broker does not send.
BOOST_AUTO_TEST_CASE(a_broker_whose_words_are_lost_is_left_and_tried_again) {
  with.heartbeat = 1s;
  auto& between = use_proxy();
  consume(&succeed);
  put_all({"1"});
  BOOST_TEST_REQUIRE(has_results(1));
  between.blackhole(testcluster::proxy::way::to_client);
  put_all({"2"});
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connection_lost rabbitmq"); }));
  between.heal();
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_virtual_host_that_is_not_there_ends_the_run) {
  with.virtual_host = "nowhere";
  check_failure(consume(&succeed), rabbit_errc::refused);
  BOOST_TEST(has_logged("nowhere"));
}

BOOST_AUTO_TEST_CASE(a_queue_of_another_type_is_left_alone) {
  client().declare_classic(queue());
  client().put({.queue = queue(), .data = "mine"});
  check_failure(consume(&succeed), rabbit_errc::other_queue);
  BOOST_TEST(has_logged("PRECONDITION_FAILED"));
  BOOST_TEST(take_what_is_left() == std::vector<std::string>({"mine"}), boost::test_tools::per_element());
}

// Those of earlier versions have no limit, and others may have one that is as good as none.
BOOST_AUTO_TEST_CASE(a_queue_without_a_delivery_limit_is_consumed_and_put_into) { check_limit_is_taken(std::nullopt); }
BOOST_AUTO_TEST_CASE(a_queue_with_a_high_delivery_limit_is_consumed_and_put_into) { check_limit_is_taken(5'000); }

BOOST_AUTO_TEST_CASE(a_queue_whose_delivery_limit_drops_messages_is_left_alone) {
  client().declare(queue(), 20);
  check_failure(consume(&succeed), rabbit_errc::other_queue);
  BOOST_TEST(has_logged("x-delivery-limit"));
}

BOOST_AUTO_TEST_CASE(a_queue_that_is_deleted_ends_the_run_until_an_operator_has_decided) {
  put_all(numbers(1, 5));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(5));
  client().remove(queue());
  check_failure(who, rabbit_errc::missing_queue);
  BOOST_TEST(has_logged("NOT_FOUND"));
  check_failure(consume(&succeed), rabbit_errc::missing_queue);
  put_all({"6"});  // which makes the queue anew
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(6));
  BOOST_TEST(results() == numbers(1, 6), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_queue_that_is_deleted_ends_the_run_also_if_its_messages_had_no_id) {
  client().declare(queue());
  client().put({.queue = queue(), .data = "1"});
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  client().remove(queue());
  check_failure(who, rabbit_errc::missing_queue);
}

BOOST_AUTO_TEST_CASE(what_speaks_another_protocol_is_told_and_ends_the_run) {
  const std::string web("HTTP/1.1 400 Bad Request\r\n\r\n");
  const std::string other_version("AMQP\0\1\0\0", 8);
  const std::string endless_frame("\1\0\0\xff\xff\xff\xff", 7);
  for (const auto& words : {web, other_version, endless_frame}) {
    log->clear();
    false_broker other(io(), [words](tcp::socket socket) { return say_words(std::move(socket), words); });
    with.hosts = other.address();
    auto& who = consume(&succeed);
    check_failure(who, rabbit_errc::unexpected_reply);
    BOOST_TEST(has_logged("rabbitmq " + other.address()));
    other.close();
  }
}

BOOST_AUTO_TEST_CASE(a_message_that_can_not_be_read_is_parked_and_the_next_one_is_processed) {
  const auto bad = wire::head(3, wire::with_headers(wire::table("a", "?"), "bad"));
  const auto messages = wire::deliver(1) + bad + wire::body("tea") + wire::message(2, "1", "1");
  false_broker other(io(), [messages](tcp::socket socket) { return serve_queue(std::move(socket), messages); });
  with.hosts = other.address();
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  BOOST_TEST(results() == numbers(1, 1), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(run_until([&] { return letters().size() == 1; }));
  BOOST_TEST(letter().find("the headers of the message can not be read") != std::string::npos, letter());
  BOOST_TEST(!who.ended.done());
  BOOST_TEST(who.does.attempts["tea"].empty());
  end_runs(all);
  other.close();
}

BOOST_AUTO_TEST_CASE(the_second_host_is_taken_if_the_first_is_away) {
  put_all(numbers(1, 5));
  with.hosts = "127.0.0.1:1," + with.hosts;
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(5));
  BOOST_TEST(has_logged("connect_failed rabbitmq 127.0.0.1:1"));
  BOOST_TEST(has_logged("connected rabbitmq " + broker().address()));
}

BOOST_AUTO_TEST_SUITE_END()
