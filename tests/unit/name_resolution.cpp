// Lookups of names in the real world. Numeric addresses do, because nothing is asked of DNS for them.
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include "backend/zookeeper/real_world.hpp"

using namespace zkrecipes;

namespace {

struct lookup_case {
  void look_up(const std::string& address) {
    world->resolve({{address, 2181}}, [this](const std::vector<backend::resolved_name>& all) {
      for (const auto& each : all) found.push_back(to_string(each.addresses.at(0)));
    });
  }

  boost::asio::io_context io;  // each handler that is ready takes a step of its own
  std::unique_ptr<backend::world> world = backend::make_real_world(io.get_executor());
  std::vector<std::string> found;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(name_resolution, lookup_case)

BOOST_AUTO_TEST_CASE(what_is_being_resolved_is_not_asked_for_again) {
  for (int i = 0; i < 3; ++i) look_up("127.0.0.1");
  BOOST_TEST_REQUIRE(io.run_one() == 1u);
  BOOST_TEST(found == std::vector<std::string>(3, "127.0.0.1:2181"), boost::test_tools::per_element());
  BOOST_TEST(io.run() == 0u);
}

BOOST_AUTO_TEST_CASE(other_names_are_resolved_by_themselves) {
  look_up("127.0.0.1");
  look_up("127.0.0.2");
  BOOST_TEST_REQUIRE(io.run_one() == 1u);
  BOOST_TEST(found == std::vector<std::string>({"127.0.0.1:2181"}), boost::test_tools::per_element());
  BOOST_TEST(io.run() == 1u);
  BOOST_TEST(found == std::vector<std::string>({"127.0.0.1:2181", "127.0.0.2:2181"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_resolved_is_asked_for_anew) {
  world->resolve({{"127.0.0.1", 2181}}, [this](const auto&) { look_up("127.0.0.1"); });
  BOOST_TEST_REQUIRE(io.run_one() == 1u);
  BOOST_TEST(found.empty());
  BOOST_TEST(io.run() == 1u);
  BOOST_TEST(found == std::vector<std::string>({"127.0.0.1:2181"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
