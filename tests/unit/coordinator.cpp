// The coordinator object itself; what it does on an ensemble is tested elsewhere.
#include "unit/fake_session.hpp"

#include <zkrecipes/consumer_coordinator.hpp>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct idle_career : leader_career {
  asio::awaitable<void> inaugurate(term) override { co_return; }
  asio::awaitable<void> execute(term) override { co_return; }
  asio::awaitable<void> hand_over(term, term_end) override { co_return; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(coordinators, fake_session)

BOOST_AUTO_TEST_CASE(one_that_takes_another_over_stops_its_own_at_once) {
  connect();
  idle_career career;
  auto running = record<>();
  consumer_coordinator mine(zk, "/e", {"me"});
  consumer_coordinator other(zk, "/f", {"me"});
  mine.async_run(career, running.token());
  settle();
  BOOST_TEST(!running.done());
  mine = std::move(other);
  settle();
  BOOST_TEST_REQUIRE(running.done());
  BOOST_TEST(!running.error());
}

BOOST_AUTO_TEST_SUITE_END()
