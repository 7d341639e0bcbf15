// Brokers that are away, that are killed, that refuse, and that are none.
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "rabbit/rabbit_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using asio::ip::tcp;

/// Says the same to each client, when it has said something, and nothing more.
class false_rabbit {
 public:
  false_rabbit(asio::io_context& io, std::string words)
      : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), words_(std::move(words)) {
    asio::co_spawn(io, accept(), asio::detached);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  void close() { acceptor_.close(); }

 private:
  asio::awaitable<void> accept() {
    for (;;) {
      auto [error, socket] = co_await acceptor_.async_accept(tuple);
      if (error) co_return;
      asio::co_spawn(acceptor_.get_executor(), serve(std::move(socket), words_), asio::detached);
    }
  }
  static asio::awaitable<void> serve(tcp::socket socket, std::string words) {
    std::string heard(1'024, '\0');
    auto [first_error, first_size] = co_await socket.async_read_some(asio::buffer(heard), tuple);
    if (first_error) co_return;
    auto [write_error, written] = co_await asio::async_write(socket, asio::buffer(words), tuple);
    for (bool is_open = !write_error; is_open;) {
      auto [read_error, size] = co_await socket.async_read_some(asio::buffer(heard), tuple);
      is_open = !read_error;
    }
  }

  tcp::acceptor acceptor_;
  std::string words_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rabbit_brokers, rabbit_case)

BOOST_AUTO_TEST_CASE(a_broker_that_is_away_is_waited_for_and_its_absence_told) {
  put_all(numbers(1, 20));
  await_kept();
  client().disconnect();
  broker().kill();
  consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connect_failed rabbitmq " + broker().address()); }));
  BOOST_TEST(has_logged("Connection refused"));
  beside([&] { broker().start(); });
  BOOST_TEST_REQUIRE(has_results(20));
  BOOST_TEST(results() == numbers(1, 20), boost::test_tools::per_element());
}

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

BOOST_AUTO_TEST_CASE(a_wrong_password_ends_the_run_and_is_not_told) {
  with.password = "open barley";
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_failed(who));
  BOOST_TEST((who.failure() == rabbit_errc::refused_credentials), who.failure().message());
  BOOST_TEST(has_logged("authentication_failed rabbitmq"));
  BOOST_TEST(!has_logged("barley"));
  all.clear();
}

BOOST_AUTO_TEST_CASE(a_virtual_host_that_is_not_there_ends_the_run) {
  with.virtual_host = "nowhere";
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_failed(who));
  const bool is_told = who.failure() == rabbit_errc::refused || who.failure() == rabbit_errc::refused_credentials;
  BOOST_TEST(is_told, who.failure().message());
  BOOST_TEST(has_logged("nowhere"));
  all.clear();
}

BOOST_AUTO_TEST_CASE(a_queue_of_another_type_is_left_alone) {
  client().declare_classic(queue());
  client().put({.queue = queue(), .data = "mine"});
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_failed(who));
  BOOST_TEST((who.failure() == rabbit_errc::other_queue), who.failure().message());
  BOOST_TEST(has_logged("PRECONDITION_FAILED"));
  all.clear();
  BOOST_TEST(take_what_is_left() == std::vector<std::string>({"mine"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_queue_that_is_deleted_ends_the_run_until_an_operator_has_decided) {
  put_all(numbers(1, 5));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(5));
  client().remove(queue());
  BOOST_TEST_REQUIRE(has_failed(who));
  BOOST_TEST((who.failure() == rabbit_errc::missing_queue), who.failure().message());
  BOOST_TEST(has_logged("NOT_FOUND"));
  all.clear();
  auto& next = consume(&succeed);
  BOOST_TEST_REQUIRE(has_failed(next));
  BOOST_TEST((next.failure() == rabbit_errc::missing_queue), next.failure().message());
  all.clear();
  put_all({"6"});  // which makes the queue anew
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(6));
  BOOST_TEST(results() == numbers(1, 6), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_path_or_a_memory_of_somebody_else_is_left_alone) {
  create("/t", "mine");
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_failed(who));
  BOOST_TEST((who.failure() == errc::foreign_data), who.failure().message());
  BOOST_TEST(get("/t").data == "mine");
  BOOST_TEST(!client().look_at(queue()).has_value());
  all.clear();
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/t", "", any_version, tuple))));
  put_all({"1"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  end_runs(all);
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/t/0000/_at/consumers", "mine", any_version, tuple))));
  auto& next = consume(&succeed);
  BOOST_TEST_REQUIRE(has_failed(next));
  BOOST_TEST((next.failure() == errc::foreign_data), next.failure().message());
  BOOST_TEST(memory() == "mine");
  all.clear();
}

BOOST_AUTO_TEST_CASE(another_number_of_shards_or_another_queue_is_refused) {
  put_all({"1"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  end_runs(all);
  with.shards = 2;
  auto& wider = consume(&succeed);
  BOOST_TEST_REQUIRE(has_failed(wider));
  BOOST_TEST((wider.failure() == errc::size_mismatch), wider.failure().message());
  all.clear();
  with.shards = 1;
  const auto ours = std::exchange(with.queue, "others");
  auto& other = consume(&succeed);
  BOOST_TEST_REQUIRE(has_failed(other));
  BOOST_TEST((other.failure() == errc::foreign_data), other.failure().message());
  BOOST_TEST(!client().look_at("others:0").has_value());
  all.clear();
  with.queue = ours;
}

BOOST_AUTO_TEST_CASE(what_speaks_another_protocol_is_told_and_ends_the_run) {
  const std::string web("HTTP/1.1 400 Bad Request\r\n\r\n");
  const std::string other_version("AMQP\0\1\0\0", 8);
  const std::string endless_frame("\1\0\0\xff\xff\xff\xff", 7);
  for (const auto& words : {web, other_version, endless_frame}) {
    log->clear();
    false_rabbit other(io(), words);
    with.hosts = other.address();
    auto& who = consume(&succeed);
    BOOST_TEST_REQUIRE(has_failed(who));
    BOOST_TEST((who.failure() == rabbit_errc::unexpected_reply), who.failure().message());
    BOOST_TEST(has_logged("rabbitmq " + other.address()));
    all.clear();
    other.close();
  }
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
