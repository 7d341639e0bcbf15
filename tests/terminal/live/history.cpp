// `zkadmin history` against real servers.
#include <boost/json/parse.hpp>

#include "live/admin_fixture.hpp"

using namespace zkrecipes::test;
namespace json = boost::json;

BOOST_FIXTURE_TEST_SUITE(history_suite, admin_fixture)

BOOST_AUTO_TEST_CASE(the_terms_of_an_election) {
  join("/e", "a");
  join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  BOOST_TEST(zkadmin({"resign", root() + "/e", "--wait", "--rw"}).code == 0);
  const auto result = zkadmin({"history", root() + "/e", "-o", "json"});
  BOOST_TEST(result.code == 0, result.err);
  const auto document = json::parse(result.out);
  BOOST_TEST(document.at("path").as_string() == root() + "/e");
  BOOST_TEST(document.at("phase") == "executing");
  const auto& terms = document.at("terms").as_array();
  BOOST_TEST_REQUIRE(terms.size() == 2u);
  BOOST_TEST(terms[0].at("epoch") == 1);
  BOOST_TEST(terms[0].at("leader") == "a");
  BOOST_TEST(terms[0].at("outcome") == "retired");
  BOOST_TEST(terms[0].at("began_ms").as_int64() <= terms[0].at("ended_ms").as_int64());
  BOOST_TEST(terms[0].at("ended_ms").as_int64() <= terms[1].at("began_ms").as_int64());
  BOOST_TEST(terms[1].at("leader") == "b");
  BOOST_TEST(terms[1].at("outcome").is_null());
  BOOST_TEST(zkadmin({"history", root() + "/e"}).out.find("goes on: executing") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(where_there_is_none) {
  create("/e");
  leaves("/e");
  BOOST_TEST(zkadmin({"history", root() + "/e"}).out == "no term is recorded\n");
  const auto missing = zkadmin({"history", root() + "/none"});
  BOOST_TEST(missing.code == 1);
  BOOST_TEST(missing.err == "zkadmin: there is no election at " + root() + "/none\n");
  create("/f", "other");
  leaves("/f");
  BOOST_TEST(zkadmin({"history", root() + "/f"}).err.find("holds data that is not an election's") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
