// Taking from a queue through one object: several at once, lost replies, giving up.
#include "unit/fake_session.hpp"

#include <zkrecipes/queue.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct reading : fake_session {
  reading() : line(zk, "/q") { connect(); }

  recorder<message> next() {
    auto made = record<message>();
    line.async_next(made.token());
    settle();
    return made;
  }
  recorder<message> take() {
    auto made = record<message>();
    line.async_take(made.token());
    settle();
    return made;
  }
  void list(strings names) {
    BOOST_TEST_REQUIRE(!last().pending.empty());
    BOOST_TEST_REQUIRE((last().pending.front().first.op == backend::opcode::children));
    backend::reply listed;
    listed.children = std::move(names);
    answer(listed);
  }
  backend::request answer_data(std::string data) {
    backend::reply found;
    found.data = std::move(data);
    return answer(found);
  }
  queue line;
};

const std::string one = "qn-0000000001";
const std::string two = "qn-0000000002";
const std::string three = "qn-0000000003";

}  // namespace

#define CHECK_PENDING(...) BOOST_TEST(pending() == (strings{__VA_ARGS__}), boost::test_tools::per_element())

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

BOOST_AUTO_TEST_CASE(an_item_given_back_while_another_is_asked_for_does_no_harm) {
  auto taken = take();
  list({one, two});
  answer();
  answer_data("first");
  BOOST_TEST_REQUIRE(taken.done());
  auto asked = next();
  CHECK_PENDING("get /q/" + two);
  auto back = record<>();
  line.async_return(taken.result<0>(), back.token());
  settle();
  answer_data("second");
  BOOST_TEST_REQUIRE(asked.done());
  BOOST_TEST(asked.result<0>().name == two);
  BOOST_TEST(asked.result<0>().data == "second");
}

BOOST_AUTO_TEST_CASE(a_take_claims_and_reads_in_one_round_trip) {
  auto taken = take();
  list({one, two, "_claim-" + one});
  CHECK_PENDING("create /q/_claim-" + two, "get /q/" + two);
  answer();
  answer_data("second");
  BOOST_TEST_REQUIRE(taken.done());
  BOOST_TEST(taken.result<0>().name == two);
}

BOOST_AUTO_TEST_CASE(what_somebody_else_has_claimed_is_passed_over) {
  auto taken = take();
  list({one, two});
  fail(errc::node_exists);
  answer_data("first");
  CHECK_PENDING("create /q/_claim-" + two, "get /q/" + two);
}

BOOST_AUTO_TEST_CASE(an_item_that_was_not_taken_after_all_comes_first_the_next_time) {
  auto given_up = take();
  list({one, two});
  given_up.cancel();
  settle();
  BOOST_TEST_REQUIRE(given_up.done());
  BOOST_TEST((given_up.error() == asio::error::operation_aborted));
  auto again = take();
  const auto all = pending();
  BOOST_TEST((std::find(all.begin(), all.end(), "create /q/_claim-" + two) == all.end()));
  BOOST_TEST(all.back() == "children /q");
}

// Without it the item would be claimed by us, and taken by nobody, for as long as the session lives.
BOOST_AUTO_TEST_CASE(a_claim_with_a_lost_reply_is_settled_however_long_it_takes) {
  auto options = usual();
  options.retry.limit = 1s;
  options.timeout = 1min;
  fake_session it(options);
  it.connect();
  queue q(it.zk, "/q");
  auto taken = it.record<message>();
  q.async_take(taken.token());
  it.settle();
  backend::reply listed;
  listed.children = {one};
  it.answer(listed);
  it.lose();
  it.advance(3s);
  it.connect();
  BOOST_TEST_REQUIRE(!it.pending().empty());
  BOOST_TEST(it.pending().front() == "exists /q/_claim-" + one);
  backend::reply ours;
  ours.stat.ephemeral_owner = 0x77;
  it.answer(ours);
  it.answer();
  BOOST_TEST_REQUIRE(taken.done());
  BOOST_TEST(taken.result<0>().name == one);
}

BOOST_AUTO_TEST_SUITE_END()
