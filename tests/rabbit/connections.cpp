// How connections to brokers are made: by one of several callers, within their limits, with names that are slow.
#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "brokers/scripted_world.hpp"
#include "rabbit/server_bytes.hpp"
#include "rabbitmq/rabbit_connection.hpp"
#include "support/fake_world.hpp"

namespace zkrecipes::test {

// A connection to brokers that the test plays, in a world whose time the test moves.

using namespace std::chrono_literals;

/// A try ends after a second, and pauses of 10 ms to 20 ms are between tries.
class connection_case {
 public:
  /// A call of `ready`.
  struct waiting_call {
    std::optional<error_code> result{};
    asio::cancellation_signal signal{};
  };

  connection_case() { use({{"broker", 5672}}, {.first_pause = 10ms, .max_pause = 20ms}); }
  ~connection_case() {
    connection.reset();
    brokers->lookups.clear();  // what waits for them keeps the world, which keeps them
    for (const auto& each : brokers->peers) each->take_all();
    bench.settle();
    for (const auto& each : brokers->peers) BOOST_TEST(each->is_closed);
  }

  /// For a connection that is made now.
  void use(std::vector<backend::endpoint> names, const retry_policy& retry,
           detail::broker_connection::retries with = detail::broker_connection::retries::none) {
    detail::rabbit_frame frame;
    frame.session = frame.broker.session = detail::require_session(zk);
    frame.broker.kind = "rabbitmq";
    frame.broker.brokers = std::move(names);
    frame.broker.timeout = 1s;
    frame.broker.retry = retry;
    frame.broker.unavailable = rabbit_errc::unavailable;
    frame.broker.refused_credentials = rabbit_errc::refused_credentials;
    frame.broker.may_recover = &detail::may_recover_rabbit;
    connection =
        std::make_shared<detail::rabbit_connection>(std::make_shared<detail::rabbit_frame>(std::move(frame)), with);
  }

  waiting_call& call(lease_clock::time_point until = detail::never) {
    auto& made = *calls.emplace_back(std::make_shared<waiting_call>());
    const auto note = [shared = calls.back()](std::exception_ptr failure, error_code error) {
      BOOST_TEST(!failure);
      shared->result = error;
    };
    asio::co_spawn(detail::require_session(zk)->strand(), wait(connection, until),
                   asio::bind_cancellation_slot(made.signal.slot(), note));
    bench.settle();
    return made;
  }
  void cancel(waiting_call& which) {
    which.signal.emit(asio::cancellation_type::terminal);
    bench.settle();
  }
  static bool has_succeeded(const waiting_call& which) { return which.result && !*which.result; }

  std::size_t tries() const { return brokers->peers.size(); }
  /// The broker takes the newest connection.
  void accept() {
    auto& peer = *brokers->peers.back();
    peer.connect();
    peer.take_all();
    for (const auto& each : {wire::start(), wire::tune(), wire::open_ok(), wire::channel_open_ok()}) {
      peer.say(each);
      peer.take_all();
    }
    bench.settle();
  }
  /// It refuses user and password.
  void refuse_login() {
    auto& peer = *brokers->peers.back();
    peer.connect();
    peer.take_all();
    peer.say(wire::start());
    peer.take_all();
    peer.say(wire::connection_close(403, "ACCESS_REFUSED"));
    peer.take_all();
    bench.settle();
  }
  void refuse() {
    brokers->peers.back()->connect(asio::error::connection_refused);
    bench.settle();
  }
  std::ptrdiff_t count_told(const std::string& part) const {
    return std::ranges::count_if(*told, [&](const std::string& each) { return each.find(part) != each.npos; });
  }

  fake_bench bench;
  std::shared_ptr<scripted_brokers> brokers = std::make_shared<scripted_brokers>();
  std::shared_ptr<std::vector<std::string>> told = std::make_shared<std::vector<std::string>>();
  session zk = make_scripted_session(bench, brokers, told);
  std::shared_ptr<detail::rabbit_connection> connection;
  std::deque<std::shared_ptr<waiting_call>> calls;

 private:
  static detail::awaitable<error_code> wait(std::shared_ptr<detail::rabbit_connection> by,
                                            lease_clock::time_point until) {
    co_return co_await by->ready(until);
  }
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(rabbit_connections, connection_case)

BOOST_AUTO_TEST_CASE(two_callers_share_one_try) {
  const auto& first = call();
  const auto& second = call();
  bench.advance(500ms);
  BOOST_TEST_REQUIRE(tries() == 1u);
  accept();
  BOOST_TEST(has_succeeded(first));
  BOOST_TEST(has_succeeded(second));
  BOOST_TEST(connection->number() == 1u);
}

BOOST_AUTO_TEST_CASE(a_try_that_gets_no_answer_is_over_for_all_callers) {
  const auto& first = call();
  const auto& second = call();
  bench.advance(1'500ms);
  BOOST_TEST_REQUIRE(tries() == 2u);
  BOOST_TEST(brokers->peers[0]->is_closed);
  BOOST_TEST(!brokers->peers[1]->is_closed);
  accept();
  BOOST_TEST(has_succeeded(first));
  BOOST_TEST(has_succeeded(second));
}

BOOST_AUTO_TEST_CASE(when_the_caller_that_tries_is_cancelled_the_other_one_tries) {
  auto& first = call();
  const auto& second = call();
  cancel(first);
  BOOST_TEST_REQUIRE(first.result.has_value());
  BOOST_TEST((*first.result == asio::error::operation_aborted), first.result->message());
  BOOST_TEST(brokers->peers[0]->is_closed);
  bench.advance(500ms);
  BOOST_TEST_REQUIRE(tries() == 2u);
  accept();
  BOOST_TEST(has_succeeded(second));
}

BOOST_AUTO_TEST_CASE(a_caller_that_waits_for_another_one_can_be_cancelled) {
  const auto& first = call();
  auto& second = call();
  cancel(second);
  BOOST_TEST_REQUIRE(second.result.has_value());
  BOOST_TEST((*second.result == asio::error::operation_aborted), second.result->message());
  BOOST_TEST_REQUIRE(tries() == 1u);
  accept();
  BOOST_TEST(has_succeeded(first));
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_closed_while_it_is_made_is_made_anew) {
  const auto& caller = call();
  BOOST_TEST_REQUIRE(tries() == 1u);
  connection->close();
  bench.settle();
  BOOST_TEST_REQUIRE(tries() == 2u);
  BOOST_TEST(brokers->peers[0]->is_closed);
  accept();
  BOOST_TEST(has_succeeded(caller));
}

BOOST_AUTO_TEST_CASE(no_pause_outlasts_the_limit_of_a_caller) {
  use({{"broker", 5672}}, {.first_pause = 1min, .max_pause = 1h});
  const auto& caller = call(bench.now() + 2s);
  refuse();
  bench.advance(1'999ms);
  BOOST_TEST(!caller.result.has_value());
  bench.advance(1ms);
  BOOST_TEST_REQUIRE(caller.result.has_value());
  BOOST_TEST((*caller.result == rabbit_errc::unavailable), caller.result->message());
  BOOST_TEST(tries() == 1u);
}

BOOST_AUTO_TEST_CASE(a_caller_waits_for_the_try_of_another_one_until_its_own_limit) {
  const auto& first = call();
  const auto& second = call(bench.now() + 300ms);
  bench.advance(300ms);
  BOOST_TEST_REQUIRE(second.result.has_value());
  BOOST_TEST((*second.result == rabbit_errc::unavailable), second.result->message());
  BOOST_TEST_REQUIRE(tries() == 1u);
  accept();
  BOOST_TEST(has_succeeded(first));
}

BOOST_AUTO_TEST_CASE(a_refused_password_ends_the_tries_of_the_impatient) {
  const auto& caller = call();
  refuse_login();
  BOOST_TEST_REQUIRE(caller.result.has_value());
  BOOST_TEST((*caller.result == rabbit_errc::refused_credentials), caller.result->message());
}

BOOST_AUTO_TEST_CASE(a_consumer_waits_until_its_password_is_taken_again) {
  use({{"broker", 5672}}, {.first_pause = 10ms, .max_pause = 20ms}, detail::broker_connection::retries::with_refusals);
  const auto& caller = call();
  for (std::size_t refusals = 1; refusals <= 3; ++refusals) {
    BOOST_TEST_REQUIRE(tries() == refusals);
    refuse_login();
    BOOST_TEST(!caller.result.has_value());
    bench.advance(50ms);
  }
  BOOST_TEST(count_told("authentication_failed rabbitmq") == 1);
  BOOST_TEST_REQUIRE(tries() == 4u);
  accept();
  BOOST_TEST(has_succeeded(caller));
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_resolved_in_time_is_asked_for_once_and_told) {
  brokers->is_resolver_slow = true;
  const auto& caller = call();
  bench.advance(10s);
  BOOST_TEST_REQUIRE(brokers->lookups.size() == 1u);
  BOOST_TEST(count_told("rabbitmq broker:5672") == 1);
  BOOST_TEST(count_told("the name was not resolved within 1000 ms") == 1);
  brokers->lookups[0]({{{"broker", 5672}, {{"10.0.0.1", 5672}}}});
  bench.advance(50ms);
  BOOST_TEST_REQUIRE(tries() == 1u);
  accept();
  BOOST_TEST(has_succeeded(caller));
  BOOST_TEST(count_told("connected rabbitmq 10.0.0.1:5672") == 1);
}

BOOST_AUTO_TEST_CASE(names_that_were_resolved_are_asked_for_again_by_the_next_try) {
  use({{"one", 5672}, {"two", 5672}}, {.first_pause = 10ms, .max_pause = 20ms});
  brokers->is_resolver_slow = true;
  const auto& caller = call();
  bench.advance(1'100ms);
  BOOST_TEST(count_told("rabbitmq one:5672,two:5672") == 1);
  BOOST_TEST(count_told("the names were not resolved within 1000 ms") == 1);
  brokers->lookups.back()(
      {{{"one", 5672}, {}, boost::asio::error::host_not_found}, {{"two", 5672}, {{"10.0.0.2", 5672}}}});
  bench.settle();
  BOOST_TEST(count_told("the name has no address: Host not found") == 1);
  BOOST_TEST_REQUIRE(tries() == 1u);
  refuse();
  bench.advance(50ms);
  BOOST_TEST_REQUIRE(brokers->lookups.size() == 2u);
  brokers->lookups.back()({{{"one", 5672}, {{"10.0.0.1", 5672}}}, {{"two", 5672}, {}}});
  bench.settle();
  BOOST_TEST_REQUIRE(tries() == 2u);
  accept();
  BOOST_TEST(has_succeeded(caller));
  BOOST_TEST(count_told("connected rabbitmq 10.0.0.1:5672") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
