// The nodes of a cluster are killed in turn, and consumers and producers with them.
#include <random>

#include <signal.h>

#include <zkrecipes/rabbitmq/rabbit_producer.hpp>

#include "rabbit/rabbit_case.hpp"
#include "support/line_process.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A cluster of three nodes for this suite.
testcluster::rabbit_broker& three_nodes() {
  static testcluster::rabbit_broker broker({.nodes = 3});
  return broker;
}

struct rabbit_kills_case : rabbit_case {
  rabbit_kills_case() : rabbit_case(&three_nodes) {
    with.stall_timeout = 1s;
    with.heartbeat = 2s;
    client().declare(queue());
    // RabbitMQ 3.10 can lose a queue if a node is killed before the members of the queue have a first message.
    client().put({.queue = queue(), .data = "0", .id = "0"});
  }
  void teardown() {
    workers.clear();
    rabbit_case::teardown();
  }

  void begin_worker() {
    const std::vector<std::string> command{KILLED_WORKER, hosts_of_worker(), root(), with.hosts, with.queue};
    workers.emplace_back("worker", command);
  }
  /// The first killed is the leader of the queue.
  int next_to_kill(int last) {
    if (last != 0) return last % 3 + 1;
    int leader = 0;
    BOOST_TEST_REQUIRE(run_until([&] { return (leader = three_nodes().leader_of(queue())) != 0; }));
    return leader;
  }

  std::deque<line_process> workers;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rabbit_kills, rabbit_kills_case)

BOOST_AUTO_TEST_CASE(each_message_has_its_effect_once_and_in_order) {
  begin_worker();
  begin_worker();
  int node = 0, number = 0;
  const auto put_some = [&](int how_many) {
    for (const auto& each : numbers(number + 1, number + how_many)) put_in_the_end(each);
    number += how_many;
  };
  for (int kills = 0; kills < 3; ++kills) {
    put_some(200);
    BOOST_TEST_REQUIRE(has_results(static_cast<std::size_t>(number - 150), 2min));
    node = next_to_kill(node);
    three_nodes().kill(node);
    put_some(100);
    workers.pop_front();  // it may be the one that leads
    begin_worker();
    put_some(50);
    beside([&] { three_nodes().start(node); });
  }
  BOOST_TEST_REQUIRE(has_results(static_cast<std::size_t>(number + 1), 3min));
  workers.clear();
  BOOST_TEST(results() == numbers(0, number), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(each_message_of_a_producer_has_its_effect_once_and_in_order_of_its_key) {
  rabbit_producer by(rabbit_queues(connect(logging()), "/t", with), "p");
  consume(&succeed);
  int node = 0;
  std::vector<std::string> of_one{"0"}, of_two;
  for (int kills = 0; kills < 3; ++kills) {
    std::vector<topic_message> some;
    for (int i = 1; i <= 2'000; ++i) {
      const bool is_of_one = i % 2 == 0;
      auto& of_key = is_of_one ? of_one : of_two;
      of_key.push_back((is_of_one ? "one " : "two ") + std::to_string(2'000 * kills + i));
      some.push_back({is_of_one ? "one" : "two", of_key.back()});
    }
    recorder<std::uint64_t> waits(executor());
    by.async_put_all(std::move(some), waits.token());
    const auto before = static_cast<std::size_t>(2'000 * kills);
    BOOST_TEST_REQUIRE(has_results(before + 20, 2min));
    node = next_to_kill(node);
    three_nodes().kill(node);
    BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }, 2min));
    BOOST_TEST(!waits.error(), waits.error().message());
    BOOST_TEST(waits.result<0>() == 2'000u);
    beside([&] { three_nodes().start(node); });
  }
  BOOST_TEST_REQUIRE(has_results(6'001, 3min));
  std::vector<std::string> seen_of_one, seen_of_two;
  for (const auto& each : results()) (each.starts_with("two") ? seen_of_two : seen_of_one).push_back(each);
  BOOST_TEST(seen_of_one == of_one, boost::test_tools::per_element());
  BOOST_TEST(seen_of_two == of_two, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

// Processes that consume a queue are killed, and suspended for longer than their session lasts.

namespace {

struct workers_case : rabbit_case {
  workers_case() { client().declare(queue()); }
  void teardown() {
    workers.clear();
    rabbit_case::teardown();
  }

  void begin() {
    workers.emplace_back(
        "worker", std::vector<std::string>{KILLED_WORKER, hosts_of_worker(), root(), broker().address(), with.queue});
  }
  void signal_all(int number) {
    for (const auto& each : workers) ::kill(each.pid(), number);
  }

  std::deque<line_process> workers;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rabbit_workers, workers_case)

BOOST_AUTO_TEST_CASE(under_kills_each_message_has_its_effect_once_and_in_order) {
  std::mt19937 random(7);
  begin();
  begin();
  for (int kills = 0; kills < 8; ++kills) {
    put_all(numbers(200 * kills + 1, 200 * kills + 200));
    const auto wanted = static_cast<std::size_t>(200 * kills) + random() % 100;
    BOOST_TEST_REQUIRE(has_results(wanted));
    workers.pop_front();  // it may be the one that leads
    begin();
  }
  BOOST_TEST_REQUIRE(has_results(1'600));
  workers.clear();
  BOOST_TEST(results() == numbers(1, 1'600), boost::test_tools::per_element());
}

// The broker gives what the suspended process had to the next one when it has missed two heartbeats.
BOOST_AUTO_TEST_CASE(a_process_that_was_suspended_does_nothing_twice_when_it_goes_on) {
  begin();
  put_all(numbers(1, 100));
  BOOST_TEST_REQUIRE(has_results(1));
  for (int times = 1; times <= 2; ++times) {
    signal_all(SIGSTOP);
    begin();
    put_all(numbers(100 * times + 1, 100 * times + 100));
    BOOST_TEST_REQUIRE(has_results(static_cast<std::size_t>(100 * times + 100)));
    signal_all(SIGCONT);
  }
  put_all(numbers(301, 400));
  BOOST_TEST_REQUIRE(has_results(400));
  workers.clear();
  BOOST_TEST(results() == numbers(1, 400), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
