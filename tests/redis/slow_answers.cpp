// How long a broker's answer is waited for. The test plays the broker, and moves the time.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/redis/redis_streams.hpp>

#include "brokers/scripted_world.hpp"
#include "redis/redis_inquiry.hpp"
#include "redis/redis_reply_text.hpp"
#include "redis/stream_replies.hpp"
#include "support/fake_world.hpp"

namespace zkrecipes::test {

using namespace std::chrono_literals;

/// A connection that is up. An answer may take a second.
class slow_answers_case {
 public:
  slow_answers_case() {
    detail::redis_frame frame;
    frame.session = frame.broker.session = detail::require_session(zk);
    frame.broker.kind = "redis";
    frame.broker.brokers = {{"broker", 6379}};
    frame.broker.timeout = 1s;
    frame.broker.unavailable = redis_errc::unavailable;
    frame.broker.refused_credentials = redis_errc::refused_credentials;
    frame.broker.may_recover = &detail::may_recover;
    connection = std::make_shared<detail::redis_connection>(std::make_shared<detail::redis_frame>(std::move(frame)));
    asio::co_spawn(strand(), connect(connection), asio::detached);
    bench.settle();
    BOOST_TEST_REQUIRE(brokers->peers.size() == 1u);
    peer().connect();
    bench.settle();
    peer().take_all();
    peer().hear();
    say(array_of(bulk("master"), ":0\r\n", "*0\r\n"));
    BOOST_TEST_REQUIRE(connection->is_up());
  }
  ~slow_answers_case() {
    connection.reset();
    peer().take_all();
    bench.settle();
    BOOST_TEST(peer().is_closed);
  }

  scripted_peer& peer() { return *brokers->peers.front(); }
  void say(const std::string& bytes) {
    peer().say(bytes);
    bench.settle();
  }
  /// The answer is due in a second.
  void ask(std::vector<std::string> command) {
    asio::co_spawn(strand(), inquire(connection, std::move(command), is_answered), asio::detached);
    bench.settle();
  }
  bool waits() const { return !is_answered->has_value() && connection->is_up(); }
  /// It is answered, or has been given up.
  void check(bool is_complete) const {
    BOOST_TEST_REQUIRE(is_answered->has_value());
    BOOST_TEST(**is_answered == is_complete);
    BOOST_TEST(connection->is_up() == is_complete);
    const auto is_silence = [](const std::string& each) { return each.find("no answer in time") != each.npos; };
    BOOST_TEST(std::ranges::count_if(*told, is_silence) == (is_complete ? 0 : 1));
  }

  fake_bench bench;
  std::shared_ptr<scripted_brokers> brokers = std::make_shared<scripted_brokers>();
  std::shared_ptr<std::vector<std::string>> told = std::make_shared<std::vector<std::string>>();
  session zk = make_scripted_session(bench, brokers, told);
  std::shared_ptr<detail::redis_connection> connection;
  std::shared_ptr<std::optional<bool>> is_answered = std::make_shared<std::optional<bool>>();

 private:
  static detail::awaitable<void> connect(std::shared_ptr<detail::redis_connection> by) {
    const auto error = co_await by->ready();
    BOOST_TEST(!error, error.message());
  }
  detail::awaitable<void> inquire(std::shared_ptr<detail::redis_connection> by, std::vector<std::string> command,
                                  std::shared_ptr<std::optional<bool>> into) {
    const auto on = detail::require_session(zk)->get_scheduler();
    detail::redis_inquiry asking(*by, on);
    asking.ask(command, [](const redisReply&) {});
    auto asked = co_await asking.replies(on->now() + 1s);
    const auto& [failure, is_complete] = asked;
    BOOST_TEST(!failure, failure.message());
    *into = is_complete;
  }
  asio::any_io_executor strand() { return detail::require_session(zk)->strand(); }
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_slow_answers, slow_answers_case)

BOOST_AUTO_TEST_CASE(a_silent_broker_is_left_when_the_time_is_over) {
  ask({"XLEN", "orders:0"});
  bench.advance(999ms);
  BOOST_TEST(waits());
  bench.advance(1ms);
  check(false);
}

BOOST_AUTO_TEST_CASE(an_answer_that_keeps_coming_is_waited_for) {
  ask({"GET", "large"});
  say("$5\r\n");
  for (const std::string part : {"a", "b", "c", "d"}) {
    bench.advance(900ms);
    say(part);
    BOOST_TEST(waits());
  }
  bench.advance(900ms);
  say("e\r\n");
  check(true);
}

BOOST_AUTO_TEST_CASE(a_broker_that_falls_silent_within_an_answer_is_left_after_the_same_time) {
  ask({"GET", "large"});
  bench.advance(900ms);
  say("$5\r\na");
  bench.advance(999ms);
  BOOST_TEST(waits());
  bench.advance(1ms);
  check(false);
}

BOOST_AUTO_TEST_CASE(a_command_that_keeps_going_is_waited_for) {
  ask({"SET", "large", std::string(300'000, 'x')});
  std::size_t parts = 0;
  while (peer().written) {
    BOOST_TEST(peer().writing.size() <= std::size_t{64} << 10);
    bench.advance(900ms);
    BOOST_TEST_REQUIRE(waits());
    peer().take();
    ++parts;
  }
  BOOST_TEST(parts == 5u);
  say("+OK\r\n");
  check(true);
}

BOOST_AUTO_TEST_CASE(a_broker_that_stops_reading_is_left) {
  ask({"SET", "large", std::string(300'000, 'x')});
  bench.advance(900ms);
  peer().take();
  bench.advance(999ms);
  BOOST_TEST(waits());
  bench.advance(1ms);
  check(false);
}

BOOST_AUTO_TEST_CASE(commands_that_are_sent_meanwhile_go_behind_a_large_one) {
  ask({"SET", "large", std::string(100'000, 'x')});
  connection->send({"PING"}, [](const redisReply*) {});
  peer().take_all();
  const auto sent = peer().hear();
  const auto second = array_of(bulk("PING"));
  BOOST_TEST(sent.starts_with("*3\r\n$3\r\nSET\r\n"));
  BOOST_TEST(sent.ends_with("x\r\n" + second));
  BOOST_TEST(std::ranges::count(sent, 'x') == 100'000);
  say("+OK\r\n+PONG\r\n");
  check(true);
}

BOOST_AUTO_TEST_SUITE_END()
