// What a replica says of itself.
#include "service/role.hpp"

#include <sstream>
#include <stdexcept>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

using zkrecipes::coordinator_phase;
using namespace zkrecipes::service;

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

BOOST_AUTO_TEST_CASE(a_replica_without_work_is_refused) {
  boost::asio::io_context io;
  std::ostringstream to;
  json_log log(to, zkrecipes::log_severity::info);
  BOOST_CHECK_EXCEPTION(replica(io, {}, log, {}), std::invalid_argument, [](const std::invalid_argument& refusal) {
    return std::string_view(refusal.what()).starts_with("work::process is empty");
  });
}

BOOST_AUTO_TEST_SUITE_END()
