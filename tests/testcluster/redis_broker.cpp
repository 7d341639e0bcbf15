// Redis for tests, and the command that starts it.
#include <boost/test/unit_test.hpp>

#include <testcluster/redis_broker.hpp>

#include "commanded_broker.hpp"
#include "connection.hpp"
#include "support.hpp"

using testcluster::redis_broker;
using testcluster::redis_durability;

namespace {

/// The reply to a command of words without blanks, up to this many bytes.
std::string ask(const redis_broker& broker, const std::string& command, std::size_t bytes) {
  testcluster::detail::connection to(testcluster::detail::parse_endpoint(broker.address()), clock_type::now() + 10s);
  to.write(command + "\r\n");
  return to.read(bytes);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(redis_brokers)

BOOST_AUTO_TEST_CASE(a_durable_broker_keeps_over_a_kill_what_it_has_acknowledged) {
  redis_broker one;
  BOOST_TEST(ask(one, "SET a 1", 5) == "+OK\r\n");
  const auto before = one.pid();
  one.kill();
  BOOST_TEST(!one.running());
  BOOST_TEST(!alive(before));
  one.start();
  BOOST_TEST(one.pid() != before);
  BOOST_TEST(ask(one, "GET a", 7) == "$1\r\n1\r\n");
}

BOOST_AUTO_TEST_CASE(another_keeps_what_it_was_told_to_save) {
  redis_broker one({.durability = redis_durability::none});
  BOOST_TEST(ask(one, "SET a 1", 5) == "+OK\r\n");
  BOOST_TEST(ask(one, "SAVE", 5) == "+OK\r\n");
  BOOST_TEST(ask(one, "SET a 2", 5) == "+OK\r\n");
  one.restart();
  BOOST_TEST(ask(one, "GET a", 7) == "$1\r\n1\r\n");
}

BOOST_AUTO_TEST_CASE(a_password_is_needed_if_one_is_set) {
  redis_broker one({.password = "open sesame"});
  BOOST_TEST(ask(one, "GET a", 7) == "-NOAUTH");
  BOOST_TEST(ask(one, "AUTH \"open sesame\"", 5) == "+OK\r\n");
  namespace fs = std::filesystem;
  const auto rights = fs::status(one.dir() / "redis" / "redis.conf").permissions();
  BOOST_TEST((rights == (fs::perms::owner_read | fs::perms::owner_write)));
}

BOOST_AUTO_TEST_CASE(it_leaves_nothing_behind) {
  std::filesystem::path dir;
  pid_t pid = 0;
  {
    redis_broker one;
    dir = one.dir();
    pid = one.pid();
    one.pause();
  }
  BOOST_TEST(!alive(pid));
  BOOST_TEST(!std::filesystem::exists(dir));
}

BOOST_AUTO_TEST_CASE(calls_that_do_not_fit_and_bad_options_are_told) {
  redis_broker one;
  BOOST_TEST(contains(failure([&] { one.start(); }), "start: the broker runs"));
  one.stop();
  BOOST_TEST(contains(failure([&] { one.kill(); }), "kill: the broker does not run"));
  BOOST_TEST(contains(failure([] { redis_broker({.password = "a\"b"}); }), "password"));
  BOOST_TEST(contains(failure([] { redis_broker({.start_timeout = 0ms}); }), "start_timeout"));
  BOOST_TEST(contains(failure([] { redis_broker({.extra_config = {"no-such-word 1"}}); }), "redis-server has ended"));
}

BOOST_AUTO_TEST_CASE(the_command_takes_orders_and_ends_with_its_input) {
  commanded_broker command({"redis", "--appendfsync", "none"});
  const auto first = command.broker();
  BOOST_TEST_REQUIRE(alive(first));
  command.order("kill");
  BOOST_TEST_REQUIRE(eventually([&] { return command.broker() == 0; }));
  BOOST_TEST(!alive(first));
  command.order("dance");
  command.order("start");
  BOOST_TEST_REQUIRE(eventually([&] { return command.broker() != 0; }));
  BOOST_TEST(contains(command.said(), "there is no order \"dance\""));
  const auto second = command.broker();
  BOOST_TEST(alive(second));
  command.end_input();
  BOOST_TEST(command.has_ended());
  BOOST_TEST(!alive(second));
}

BOOST_AUTO_TEST_CASE(no_broker_outlives_a_command_that_is_killed) {
  commanded_broker command({"redis", "--appendfsync", "none"});
  const auto broker = command.broker();
  BOOST_TEST_REQUIRE(alive(broker));
  command.kill();
  BOOST_TEST(eventually([&] { return !alive(broker); }));
}

BOOST_AUTO_TEST_SUITE_END()
