// How far the contact with the servers came, as told when the time is over.
#include "commands/contact.hpp"

#include <string>

#include <boost/test/unit_test.hpp>

using namespace zkadmin;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(contact_suite)

BOOST_AUTO_TEST_CASE(the_end_of_the_time_tells_how_far_the_contact_came) {
  settings wanted;
  wanted.servers = {{"a", 2181, "a:2181"}, {"b", 2181, "b:2181"}};
  wanted.timeout = 1s;
  contact with(wanted);
  BOOST_TEST(std::string(out_of_time(with).what()) == "no server has answered within 1.0 s");
  with.servers.back().reachable = true;
  BOOST_TEST(std::string(out_of_time(with).what()) == "the servers answer, but gave no session within 1.0 s");
}

BOOST_AUTO_TEST_SUITE_END()
