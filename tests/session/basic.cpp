// Every request once, against a real server.
#include "support/fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(requests, fixture)

BOOST_AUTO_TEST_CASE(a_node_is_created_read_written_and_removed) {
  auto [create_error, made] = run(zk().async_create("/a", "one", create_mode::persistent, tuple));
  BOOST_TEST_REQUIRE(!create_error);
  BOOST_TEST(made.path == "/a");
  auto [get_error, node] = run(zk().async_get("/a", tuple));
  BOOST_TEST(!get_error);
  BOOST_TEST(node.data == "one");
  BOOST_TEST(node.stat.czxid == made.stat.czxid);
  remove("/a");
}

BOOST_AUTO_TEST_SUITE_END()
