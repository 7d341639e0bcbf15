// The mark of an operator in the description of an instance.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/service_discovery.hpp>

#include "discovery/service_instance.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;

namespace {

std::string described(const std::string& more) { return R"({"name":"n","id":"i","address":"a")" + more + "}"; }

}  // namespace

BOOST_AUTO_TEST_SUITE(drain_marks)

BOOST_AUTO_TEST_CASE(the_other_fields_stay) {
  const auto before = described(R"(,"payload":{"@class":"x","w":1},"other":[1],"enabled":true)");
  const auto marked = with_drain_mark(before).value();
  BOOST_TEST(marked == described(R"(,"payload":{"@class":"x","w":1},"other":[1],"enabled":false,"ownerEnabled":true)"));
  BOOST_TEST((is_drained(marked) && !is_drained(before)));
  BOOST_TEST(!parse_service_instance(marked)->enabled);
  BOOST_TEST(without_drain_mark(marked).value() == before);
}

BOOST_AUTO_TEST_CASE(the_numbers_of_other_fields_stay) {
  const auto before =
      described(R"(,"payload":0.1000000000000000055511,"other":[12345678901234567890123],"enabled":true)");
  BOOST_TEST(without_drain_mark(with_drain_mark(before).value()).value() == before);
}

BOOST_AUTO_TEST_CASE(what_the_owner_says_is_kept) {
  const auto marked = with_drain_mark(described(R"(,"enabled":false)")).value();
  BOOST_TEST(marked == described(R"(,"enabled":false,"ownerEnabled":false)"));
  BOOST_TEST(without_drain_mark(marked).value() == described(R"(,"enabled":false)"));
  // Curator leaves the field out by default.
  BOOST_TEST(with_drain_mark(described("")).value() == described(R"(,"enabled":false,"ownerEnabled":true)"));
}

BOOST_AUTO_TEST_CASE(twice_is_once) {
  const auto plain = described(R"(,"enabled":true)"), marked = with_drain_mark(plain).value();
  BOOST_TEST(with_drain_mark(marked).value() == marked);
  BOOST_TEST(without_drain_mark(plain).value() == plain);
}

BOOST_AUTO_TEST_CASE(the_owner_keeps_the_mark) {
  const auto marked = with_drain_mark(described(R"(,"enabled":true)")).value();
  BOOST_TEST(keep_drain_mark(marked, described(R"(,"port":1,"enabled":true)")) ==
             described(R"(,"port":1,"enabled":false,"ownerEnabled":true)"));
  BOOST_TEST(keep_drain_mark(marked, described(R"(,"enabled":false)")) ==
             described(R"(,"enabled":false,"ownerEnabled":false)"));
  const auto wanted = described(R"(,  "enabled":true)");
  for (const std::string there : {"", "no instance", "{}", R"({"name":"n","id":"i","ownerEnabled":"yes"})"})
    BOOST_TEST(keep_drain_mark(there, wanted) == wanted, "not written anew without need: " << there);
}

BOOST_AUTO_TEST_CASE(what_is_no_instance) {
  for (const std::string text : {"", "any", "[]", "{}", R"({"id":"i"})"}) {
    BOOST_TEST((!with_drain_mark(text) && !without_drain_mark(text) && !is_drained(text)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
