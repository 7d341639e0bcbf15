// Brokers that are away, that are killed, that refuse, and that are none.
#include <map>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "brokers/false_broker.hpp"
#include "redis/redis_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using asio::ip::tcp;

using answers = std::map<std::string, std::string>;

/// Answers each line that begins a word of a command with what is set for the command; for the rest with nothing.
asio::awaitable<void> answer_words(tcp::socket socket, answers what) {
  std::string text;
  for (;;) {
    auto [error, size] = co_await asio::async_read_until(socket, asio::dynamic_buffer(text), "\r\n", tuple);
    if (error) co_return;
    const auto found = what.find(text.substr(0, size - 2));
    text.erase(0, size);
    if (found == what.end()) continue;
    auto written = co_await asio::async_write(socket, asio::buffer(found->second), tuple);
    if (std::get<0>(written)) co_return;
  }
}

false_broker::server that_answers(answers what) {
  return [what = std::move(what)](tcp::socket socket) { return answer_words(std::move(socket), what); };
}

const std::string primary = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(redis_brokers, redis_case)

#include "brokers/broker_cases.hpp"

BOOST_AUTO_TEST_CASE(under_kills_of_the_broker_each_entry_that_is_kept_is_consumed_once_and_in_order) {
  auto& own_broker = use_own_broker({});
  auto& who = consume(&succeed);
  int number = 0;
  for (int kills = 0; kills < 10; ++kills) {
    for (int i = 0; i < 40; ++i) client().ask({"XADD", "orders:0", "*", "key", "k", "data", std::to_string(++number)});
    const auto done = who.does.status().done;
    BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done > done || kills % 2 == 0; }));
    own_broker.kill();
    client().disconnect();
    own_broker.start();
  }
  put_all({"last"});
  const auto kept = client().data_of("orders:0");
  BOOST_TEST(kept.size() == 401u);  // appendfsync always: nothing that was acknowledged is lost
  BOOST_TEST_REQUIRE(has_results(kept.size()));
  BOOST_TEST(results() == kept, boost::test_tools::per_element());
  BOOST_TEST(has_logged("connection_lost redis"));
}

BOOST_AUTO_TEST_CASE(a_broker_that_falls_silent_is_left_and_tried_again) {
  with.timeout = 100ms;
  auto& own_broker = use_own_broker({});
  with.timeout = 100ms;
  consume(&succeed);
  put_all({"1"});
  BOOST_TEST_REQUIRE(has_results(1));
  own_broker.pause();
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("no answer"); }));
  own_broker.resume();
  put_all({"2"});
  BOOST_TEST_REQUIRE(has_results(2));
}

BOOST_AUTO_TEST_CASE(a_reply_to_nothing_ends_the_connection) {
  false_broker lies(io(), that_answers({{"ROLE", primary + "+OK\r\n"}}));
  with.hosts = lies.address();
  consume(&succeed);
  BOOST_TEST(run_until([&] { return has_logged("a reply to nothing"); }));
  lies.close();
}

BOOST_AUTO_TEST_CASE(credentials_are_used_and_never_told) {
  use_own_broker({.password = "open sesame"});
  with.password = "open sesame";
  put_all({"1"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  BOOST_TEST(!has_logged("sesame"));
}

BOOST_AUTO_TEST_CASE(a_missing_password_is_told_and_ends_no_run) {
  use_own_broker({.password = "open sesame"});
  check_waiting(consume(&succeed), "NOAUTH");
}

BOOST_AUTO_TEST_CASE(a_password_that_is_changed_for_a_while_ends_no_run) {
  use_own_broker({.password = "open sesame"});
  with.password = "open sesame";
  put_all({"1"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  client().get({"CONFIG", "SET", "requirepass", "open barley"});
  client().get({"CLIENT", "KILL", "TYPE", "normal"});
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("authentication_failed redis"); }));
  client().get({"CONFIG", "SET", "requirepass", "open sesame"});
  put_all({"2"});
  BOOST_TEST_REQUIRE(has_results(2));
}

BOOST_AUTO_TEST_CASE(a_right_that_is_taken_for_a_while_ends_no_run) {
  with.user = "narrow";
  with.password = "open sesame";
  use_own_broker({});
  client().get({"ACL", "SETUSER", "narrow", "on", ">open sesame", "allkeys", "+@all"});
  put_all({"1"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  client().get({"ACL", "SETUSER", "narrow", "-xread"});
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("NOPERM"); }));
  client().get({"ACL", "SETUSER", "narrow", "+xread"});
  put_all({"2"});
  BOOST_TEST_REQUIRE(has_results(2));
}

BOOST_AUTO_TEST_CASE(a_key_of_another_type_is_left_alone) {
  client().get({"SET", "orders:0", "mine"});
  check_failure(consume(&succeed), errc::foreign_data);
  BOOST_TEST(has_logged("orders:0: WRONGTYPE"));
  BOOST_TEST(std::string(client().get({"GET", "orders:0"})->str) == "mine");
}

BOOST_AUTO_TEST_CASE(replies_of_another_type_end_the_run) {
  for (const std::string part : {"ROLE", "XINFO", "XREAD"}) {
    answers what{{"ROLE", primary}, {"XINFO", "-ERR no such key\r\n"}, {"XRANGE", "*0\r\n"}};
    what[part] = ":5\r\n";
    false_broker broken(io(), that_answers(what));
    with.hosts = broken.address();
    auto& who = consume(&succeed);
    BOOST_TEST_REQUIRE(has_failed(who), part);
    BOOST_TEST((who.failure() == redis_errc::unexpected_reply), part);
    all.clear();
    broken.close();
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_broker_is_told_and_tried_again) {
  false_broker web(io(), that_answers({{"*1", "HTTP/1.1 400 Bad Request\r\n\r\n"}}));
  with.hosts = web.address();
  consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("Protocol error"); }));
  end_runs(all);
  web.close();
}

BOOST_AUTO_TEST_CASE(a_replica_is_not_consumed_and_the_primary_is_found) {
  put_all(numbers(1, 5));
  const auto primary_address = with.hosts;
  const auto colon = primary_address.find(':');
  testcluster::redis_broker_options how;
  how.extra_config = {"replicaof " + primary_address.substr(0, colon) + ' ' + primary_address.substr(colon + 1)};
  testcluster::redis_broker replica(how);
  with.hosts = replica.address() + ',' + primary_address;
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(5));
  BOOST_TEST(has_logged("it is no primary, but a slave"));
  BOOST_TEST(has_logged("connected redis " + primary_address));
}

BOOST_AUTO_TEST_SUITE_END()
