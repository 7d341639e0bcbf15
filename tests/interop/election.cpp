// One leader, by our election, Curator's two and kazoo's.
#include <boost/test/unit_test.hpp>

#include "interop_case.hpp"

using namespace interop;

BOOST_FIXTURE_TEST_SUITE(elections, interop_case)

BOOST_AUTO_TEST_CASE(curators_leader_latch_takes_turns_with_us) {
  open({{"cpp1", "election"}, {"java1", "latch"}, {"cpp2", "election"}, {"java2", "latch"}});
  take_turns(100);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 0, each);
  finish();
}

BOOST_AUTO_TEST_CASE(kazoos_election_that_knows_our_names_takes_turns_with_us) {
  open({{"cpp1", "election"}, {"python1", "election"}, {"cpp2", "election"}, {"python2", "election"}});
  take_turns(100);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 0, each);
  finish();
}

BOOST_AUTO_TEST_CASE(curators_leader_selector_takes_turns_with_us_under_its_names) {
  open({{"cpp1", "election-as-selector"}, {"java1", "selector"}, {"cpp2", "mutex"}, {"java2", "selector"}});
  take_turns(100);
  for (const auto& each : opened) BOOST_TEST(witnessed().at("turns").at(each).as_int64() > 0, each);
  finish();
}

// A selector ranks the names of a latch behind its own names, and a latch does the same with a selector's. So these two
// recipes of Curator can not share a path either.
BOOST_AUTO_TEST_CASE(curators_leader_selector_walks_in_on_the_names_of_its_latch) {
  open({{"cpp1", "election"}, {"java1", "selector"}});
  BOOST_TEST(ask("cpp1", "enter") == "ok");
  BOOST_TEST(ask("java1", "enter") == "overlap: cpp1 is inside");
  BOOST_TEST(ask("cpp1", "leave") == "ok");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
