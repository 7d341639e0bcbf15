// What a replica says of itself.
#include <boost/test/unit_test.hpp>

#include "single_role.hpp"

using service::single_role;
using zkrecipes::coordinator_phase;

BOOST_AUTO_TEST_SUITE(service_role)

BOOST_AUTO_TEST_CASE(a_replica_is_starting_until_it_is_in_line) {
  zkrecipes::coordinator_status now;
  BOOST_TEST(single_role::describe(now) == "starting");
  now.phase = coordinator_phase::campaigning;
  BOOST_TEST(single_role::describe(now) == "starting");
  BOOST_TEST(!single_role::takes_part(now));
  now.ahead = 1;
  BOOST_TEST(single_role::describe(now) == "standby");
  BOOST_TEST(single_role::takes_part(now));
}

BOOST_AUTO_TEST_CASE(a_leader_is_one_while_it_works) {
  zkrecipes::coordinator_status now;
  now.phase = coordinator_phase::inaugurating;
  BOOST_TEST(single_role::describe(now) == "starting");
  now.phase = coordinator_phase::executing;
  BOOST_TEST(single_role::describe(now) == "leader");
  now.phase = coordinator_phase::handing_over;
  BOOST_TEST(single_role::describe(now) == "handing over");
}

BOOST_AUTO_TEST_SUITE_END()
