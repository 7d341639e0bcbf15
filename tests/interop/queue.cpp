// One queue, filled and emptied by us and by Curator's SimpleDistributedQueue.
#include "interop_case.hpp"

#include <boost/test/unit_test.hpp>

using namespace interop;

BOOST_FIXTURE_TEST_SUITE(queues, interop_case)

BOOST_AUTO_TEST_CASE(what_either_puts_the_other_takes_in_order) {
  open({{"cpp1", "queue"}, {"java1", "queue"}});
  for (const char* item : {"1", "3", "5"}) {
    BOOST_TEST(ask("cpp1", std::string("put c") + item) == "ok");
    BOOST_TEST(ask("java1", std::string("put j") + item) == "ok");
  }
  for (const char* expected : {"ok c1", "ok c3", "ok c5"}) {
    BOOST_TEST(ask("java1", "take") == expected);
    std::string ours(expected);
    ours[3] = 'j';
    BOOST_TEST(ask("cpp1", "take") == ours);
  }
  BOOST_TEST(ask("cpp1", "take") == "ok ");
  BOOST_TEST(ask("java1", "take") == "ok ");
  finish();
}

// It does not see claims: who is quicker to delete has the item, and the other is told.
BOOST_AUTO_TEST_CASE(curator_takes_what_we_have_claimed_and_we_are_told) {
  open({{"cpp1", "queue"}, {"java1", "queue"}});
  BOOST_TEST(ask("java1", "put item") == "ok");
  BOOST_TEST(ask("cpp1", "claim") == "ok item");
  BOOST_TEST(ask("java1", "take") == "ok item");
  BOOST_TEST(ask("cpp1", "acknowledge").starts_with(make_error_code(zkrecipes::errc::superseded).message()));
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
