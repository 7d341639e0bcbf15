// What a replica says of itself.
#include "service/role.hpp"

#include <boost/test/unit_test.hpp>

using zkrecipes::coordinator_phase;
using zkrecipes::service::describe;
using zkrecipes::service::takes_part;

BOOST_AUTO_TEST_SUITE(service_role)

BOOST_AUTO_TEST_CASE(a_replica_is_starting_until_it_is_in_line) {
  zkrecipes::coordinator_status now;
  BOOST_TEST(describe(now) == "starting");
  now.phase = coordinator_phase::campaigning;
  BOOST_TEST(describe(now) == "starting");
  BOOST_TEST(!takes_part(now));
  now.ahead = 1;
  BOOST_TEST(describe(now) == "standby");
  BOOST_TEST(takes_part(now));
}

BOOST_AUTO_TEST_CASE(a_leader_is_one_while_it_works) {
  zkrecipes::coordinator_status now;
  now.phase = coordinator_phase::inaugurating;
  BOOST_TEST(describe(now) == "starting");
  now.phase = coordinator_phase::executing;
  BOOST_TEST(describe(now) == "leader");
  now.phase = coordinator_phase::handing_over;
  BOOST_TEST(describe(now) == "handing over");
}

BOOST_AUTO_TEST_SUITE_END()
