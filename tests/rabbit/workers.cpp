// Processes that consume a queue are killed, and suspended for longer than their session lasts.
#include <random>

#include <signal.h>

#include "rabbit/rabbit_case.hpp"
#include "support/line_process.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
