// One leader, by our election, Curator's two and kazoo's.
#include <boost/test/unit_test.hpp>

#include "interop_case.hpp"

using namespace interop;

BOOST_FIXTURE_TEST_SUITE(elections, interop_case)

BOOST_AUTO_TEST_CASE(curators_leader_latch_takes_turns_with_us) {
  open({{"cpp1", "election"}, {"java1", "latch"}, {"cpp2", "election"}, {"java2", "latch"}});
  take_turns(100);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 10, each);
  finish();
}

BOOST_AUTO_TEST_CASE(kazoos_election_that_knows_our_names_takes_turns_with_us) {
  open({{"cpp1", "election"}, {"python1", "election"}, {"cpp2", "election"}, {"python2", "election"}});
  take_turns(100);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 10, each);
  finish();
}

// A selector stands in the line of a mutex.
BOOST_AUTO_TEST_CASE(curators_leader_selector_takes_turns_with_our_lock) {
  open({{"cpp1", "mutex"}, {"java1", "selector"}, {"cpp2", "mutex"}, {"java2", "selector"}});
  take_turns(100);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 10, each);
  finish();
}

BOOST_AUTO_TEST_CASE(curators_leader_selector_walks_in_on_an_election_as_on_its_own_latch) {
  open({{"cpp1", "election"}, {"java1", "selector"}});
  BOOST_TEST(ask("cpp1", "enter") == "ok");
  BOOST_TEST(ask("java1", "enter") == "overlap: cpp1 is inside");
  BOOST_TEST(ask("cpp1", "leave") == "ok");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
