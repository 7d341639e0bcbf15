// Taking from a queue through one object: the order, several takes at once, and what can not be taken.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/queue.hpp>

#include "queue/attempts.hpp"
#include "unit/reading.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(queue_readers, reading)

BOOST_AUTO_TEST_CASE(items_come_in_order_and_foreign_nodes_are_none) {
  auto first = next();
  list({"_producer-p", two, "qn-x", one, "_claim-" + one});
  CHECK_PENDING("get /q/" + one);
  answer_data("first");
  BOOST_TEST_REQUIRE(first.done());
  BOOST_TEST(first.result<0>().name == one);
  BOOST_TEST(first.result<0>().data == "first");
  auto second = next();
  CHECK_PENDING("get /q/" + one, "get /q/" + two);
  fail(errc::no_node);
  answer_data("second");
  BOOST_TEST_REQUIRE(second.done());
  BOOST_TEST(second.result<0>().name == two);
}

BOOST_AUTO_TEST_CASE(two_at_once_see_the_same_and_skip_nothing) {
  auto a = next();
  auto b = next();
  list({one, two, three});
  list({one, two, three});
  CHECK_PENDING("get /q/" + one, "get /q/" + one);
  fail(errc::no_node);
  fail(errc::no_node);
  CHECK_PENDING("get /q/" + two, "get /q/" + two);
  answer_data("second");
  answer_data("second");
  BOOST_TEST_REQUIRE((a.done() && b.done()));
  BOOST_TEST(a.result<0>().name == two);
  BOOST_TEST(b.result<0>().name == two);
}

BOOST_AUTO_TEST_CASE(two_at_once_survive_that_the_last_item_is_gone) {
  auto a = next();
  auto b = next();
  list({one});
  list({one});
  fail(errc::no_node);
  fail(errc::no_node);
  BOOST_TEST(!a.done());
  BOOST_TEST(!b.done());
  CHECK_PENDING("children /q", "children /q");
}

// One round trip carries three requests: the claim, which also counts the attempt, the read of the item, and the list
// that will be needed next.
BOOST_AUTO_TEST_CASE(a_take_claims_and_reads_in_one_round_trip) {
  auto taken = take();
  list({one, two, "_claim-" + one});
  CHECK_PENDING("children /q", "multi /", "get /q/" + two);
  list({two, "_claim-" + one});
  const auto claim = answer();
  BOOST_TEST(claim.operations[0].path == "/q/_claim-" + two);
  BOOST_TEST((claim.operations[0].mode == create_mode::ephemeral));
  backend::reply found;
  found.data = "second";
  found.stat.cversion = 6;
  answer(found);
  BOOST_TEST_REQUIRE(taken.done());
  BOOST_TEST(taken.result<0>().name == two);
  BOOST_TEST(taken.result<0>().attempts == 3);
}

BOOST_AUTO_TEST_CASE(what_somebody_else_has_claimed_is_passed_over) {
  const strings all{one, two, three, "qn-0000000004"};
  auto taken = take();
  list(all);
  list(all);
  fail_at(0, errc::node_exists);
  answer_data("first");
  BOOST_TEST(!taken.done());
  BOOST_TEST_REQUIRE(pending().size() == 3u);
  BOOST_TEST(pending()[0] == "children /q", "the list was old: another one travels along with the next claim");
  BOOST_TEST(pending()[1] == "multi /");
  BOOST_TEST(pending()[2].starts_with("get /q/qn-"));
  BOOST_TEST(pending()[2] != "get /q/" + one);
}

// In a list with fewer items than takers most takers have to wait. So a taker whose claim comes too late gets in line
// instead of trying again and again.
BOOST_AUTO_TEST_CASE(who_meets_somebody_in_a_short_list_stands_aside) {
  auto taken = take();
  list({one, two});
  list({one, two});
  fail_at(0, errc::node_exists);
  answer_data("first");
  BOOST_TEST(!taken.done());
  BOOST_TEST(count("multi /") == 0);
  BOOST_TEST_REQUIRE(!pending().empty());
  BOOST_TEST(pending()[0].starts_with("create /q/_idle/"));
  taken.cancel();
  settle();
}

BOOST_AUTO_TEST_CASE(attempts_are_claims_less_those_taken_back) {
  node_stat item;
  item.cversion = 10;
  BOOST_TEST(detail::attempts_of(item) == 5);
  item.version = 2;
  BOOST_TEST(detail::attempts_of(item) == 3);
  item.version = 7;
  BOOST_TEST(detail::attempts_of(item) == 0, "an operator may have written to it");
}

BOOST_AUTO_TEST_CASE(what_can_not_be_claimed_is_told_once_and_left) {
  std::vector<std::string> told;
  queue watched(zk, "/q", {.on_unavailable_item = [&](error_code why, const std::string& name) {
                  told.push_back(name + ' ' + why.message());
                }});
  auto taken = record<message>();
  watched.async_take(taken.token());
  settle();
  list({one, two});
  list({one, two});
  fail_at(1, errc::no_auth);
  fail(errc::no_auth);
  BOOST_TEST(told == (strings{one + ' ' + make_error_code(errc::no_auth).message()}), boost::test_tools::per_element());
  list({one, two});
  answer();
  answer_data("second");
  BOOST_TEST_REQUIRE(taken.done());
  BOOST_TEST(taken.result<0>().name == two);
}

BOOST_AUTO_TEST_CASE(two_at_once_take_two_from_one_list) {
  auto a = take();
  auto b = take();
  list({one, two});
  BOOST_TEST(count("multi /") == 2);
  BOOST_TEST(count("get /q/" + one) == 1);
  BOOST_TEST(count("get /q/" + two) == 1);
}

BOOST_AUTO_TEST_CASE(a_path_that_another_recipe_uses_is_refused) {
  const std::string stranger = "_c_5f6a-lock-0000000001";
  auto taken = take();
  list({stranger, "foreign"});
  BOOST_TEST_REQUIRE(taken.done());
  BOOST_TEST((taken.error() == errc::foreign_data));
  auto followed = next();
  list({"entry-042-0000000007"});
  BOOST_TEST_REQUIRE(followed.done());
  BOOST_TEST((followed.error() == errc::foreign_data));
  auto again = next();
  list({stranger, one});
  CHECK_PENDING("get /q/" + one);
}

BOOST_AUTO_TEST_CASE(who_comes_to_a_queue_for_another_recipe_disturbs_nobody) {
  auto waiting = next();
  list({});
  fire(backend::change::children, "/q");
  list({"_c_5f6a-lock-0000000001"});
  BOOST_TEST(!waiting.done());
}

BOOST_AUTO_TEST_SUITE_END()
