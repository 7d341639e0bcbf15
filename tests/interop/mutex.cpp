// One lock for C++, Java and Python.
#include <boost/test/unit_test.hpp>

#include "interop_case.hpp"

using namespace interop;

BOOST_FIXTURE_TEST_SUITE(mutex, interop_case)

BOOST_AUTO_TEST_CASE(three_languages_take_turns) {
  open({{"cpp1", "mutex"},
        {"java1", "mutex"},
        {"python1", "mutex"},
        {"cpp2", "mutex"},
        {"java2", "mutex"},
        {"python2", "mutex"}});
  take_turns(1000);
  const auto record = witnessed();
  BOOST_TEST(record.at("hand_offs").as_int64() >= 1000);
  // The lock is first come, first served: once all six stand in line, each gets a sixth of the turns.
  for (const auto& each : opened) BOOST_TEST(record.at("turns").at(each).as_int64() > 1000 / 24, each);
  finish();
}

BOOST_AUTO_TEST_CASE(kazoo_under_its_own_names_takes_turns_with_us) {
  open({{"cpp1", "mutex"}, {"python1", "own-mutex"}, {"cpp2", "mutex"}, {"python2", "own-mutex"}});
  take_turns(100);
  BOOST_TEST(witnessed().at("hand_offs").as_int64() >= 100);
  finish();
}

// This is why kazoo has to be told of the others' names: without them it does not see our node ahead.
BOOST_AUTO_TEST_CASE(kazoo_that_knows_its_own_names_only_walks_in_on_us) {
  open({{"cpp1", "mutex"}, {"python1", "plain-mutex"}});
  BOOST_TEST(ask("cpp1", "enter") == "ok");
  BOOST_TEST(ask("python1", "enter") == "overlap: cpp1 is inside");
  BOOST_TEST(ask("cpp1", "leave") == "ok");
  finish();
}

// Where Curator takes part, kazoo has to use Curator's names, because Curator ranks a child that it does not know
// behind its own numbers.
BOOST_AUTO_TEST_CASE(curator_walks_in_on_kazoo_under_its_own_names) {
  open({{"python1", "own-mutex"}, {"java1", "mutex"}});
  BOOST_TEST(ask("python1", "enter") == "ok");
  BOOST_TEST(ask("java1", "enter") == "overlap: python1 is inside");
  BOOST_TEST(ask("python1", "leave") == "ok");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
