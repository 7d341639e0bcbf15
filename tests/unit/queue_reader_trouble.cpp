// Taking from a queue through one object: cancelled takes, lost replies, and sessions that end.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/queue.hpp>

#include "unit/reading.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(queue_readers, reading)

// A cancelled take removes its claim and takes its attempt back in one transaction, even if replies are lost.
BOOST_AUTO_TEST_CASE(a_take_that_is_cancelled_is_no_attempt) {
  auto taken = take();
  list({one});
  list({one});
  const auto guid = last().pending.front().first.operations[0].data;
  taken.cancel();
  settle();
  BOOST_TEST_REQUIRE(taken.done());
  answer();
  answer_data("first");
  for (bool lost : {true, false}) {
    CHECK_PENDING("get /q/_claim-" + one, "get /q/" + one);
    backend::reply claim;
    claim.data = guid;
    answer(claim);
    backend::reply item;
    item.data = "first";
    item.stat.version = 4;
    answer(item);
    CHECK_PENDING("multi /");
    if (lost) {
      reconnect();
      continue;
    }
    const auto done = answer();
    BOOST_TEST_REQUIRE(done.operations.size() == 2u);
    BOOST_TEST(done.operations[0].path == "/q/_claim-" + one);
    BOOST_TEST(done.operations[1].path == "/q/" + one);
    BOOST_TEST(done.operations[1].data == "first");
    BOOST_TEST(done.operations[1].version == 4);
  }
  CHECK_PENDING();
}

// If the item may not be written, its attempt stays counted.
BOOST_AUTO_TEST_CASE(its_claim_goes_even_if_the_attempt_can_not_be_taken_back) {
  auto taken = take();
  list({one});
  list({one});
  const auto guid = last().pending.front().first.operations[0].data;
  taken.cancel();
  settle();
  answer();
  answer_data("first");
  for (bool refused : {true, false}) {
    CHECK_PENDING("get /q/_claim-" + one, "get /q/" + one);
    answer_data(guid);
    answer_data("first");
    CHECK_PENDING("multi /");
    if (refused) {
      fail_at(1, errc::no_auth);
      continue;
    }
    const auto done = answer();
    BOOST_TEST_REQUIRE(done.operations.size() == 1u);
    BOOST_TEST(done.operations[0].path == "/q/_claim-" + one);
  }
  CHECK_PENDING();
}

// The first of the two items had already been read when the take was cancelled.
BOOST_AUTO_TEST_CASE(nor_is_a_take_of_many_that_is_cancelled) {
  auto taken = record<std::vector<message>>();
  line.async_take_many(2, taken.token());
  settle();
  list({one, two});
  CHECK_PENDING("children /q", "multi /", "get /q/" + one, "multi /", "get /q/" + two);
  list({one, two});
  answer();
  backend::reply item;
  item.data = "first";
  item.stat.version = 4;
  answer(item);
  BOOST_TEST(!taken.done());
  taken.cancel();
  settle();
  BOOST_TEST_REQUIRE(taken.done());
  BOOST_TEST_REQUIRE(count("multi /") == 2);
  while (count("multi /") > 0 &&
         (pending().front() != "multi /" || last().pending.front().first.operations[0].path != "/q/_claim-" + one))
    answer();
  BOOST_TEST_REQUIRE(!pending().empty());
  const auto back = answer();
  BOOST_TEST_REQUIRE(back.operations.size() == 2u);
  BOOST_TEST((back.operations[0].type == operation::kind::remove));
  BOOST_TEST((back.operations[1].type == operation::kind::set));
  BOOST_TEST(back.operations[1].path == "/q/" + one);
  BOOST_TEST(back.operations[1].data == "first");
  BOOST_TEST(back.operations[1].version == 4);
}

BOOST_AUTO_TEST_CASE(a_claim_that_is_another_s_by_now_is_left_alone) {
  auto taken = take();
  list({one});
  list({one});
  taken.cancel();
  settle();
  answer();
  answer_data("first");
  backend::reply theirs;
  theirs.data = "another GUID";
  answer(theirs);
  answer_data("first");
  CHECK_PENDING();
}

// If the lost reply were not settled, our claim would keep everybody from the item for as long as the session lives.
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
  it.list({one});
  it.list({one});
  const auto claim = it.last().pending.front().first;
  it.advance(900ms);  // a second is how long it may have no connection, not how long it may take
  it.lose();
  it.advance(900ms);
  it.connect();
  backend::reply ours;
  ours.data = claim.operations[0].data;
  BOOST_TEST(!ours.data.empty());
  for (int i = 0; i < 5 && !taken.done(); ++i) {
    BOOST_TEST_REQUIRE(!it.pending().empty());
    const auto asked = it.pending().front();
    BOOST_TEST(asked != "multi /", "it is not claimed again");
    it.answer(asked == "get /q/_claim-" + one ? ours : backend::reply());
  }
  BOOST_TEST_REQUIRE(taken.done());
  BOOST_TEST(taken.result<0>().name == one);
}

// Our first try may have removed the item. Or that try was lost, and another taker removed the item.
BOOST_AUTO_TEST_CASE(a_pop_whose_reply_was_lost_and_whose_item_has_gone_does_not_know_whose_it_was) {
  auto popped = record<message>();
  line.async_pop(popped.token());
  settle();
  list({one});
  CHECK_PENDING("get /q/" + one);
  answer_data("first");
  CHECK_PENDING("children /q", "multi /");
  reconnect();
  CHECK_PENDING("get /q/_claim-" + one);
  fail(errc::no_node);
  CHECK_PENDING("multi /");
  fail_at(1, errc::no_node);
  CHECK_PENDING("exists /q/" + one);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(popped.done());
  BOOST_TEST((popped.error() == errc::outcome_unknown), popped.error().message());
}

BOOST_AUTO_TEST_CASE(a_claim_of_the_same_session_by_another_object_is_not_ours) {
  auto taken = take();
  list({one});
  lose();
  connect();
  backend::reply theirs;
  theirs.data = "another GUID";
  theirs.stat.ephemeral_owner = 0x77;
  for (int i = 0; i < 5 && !pending().empty(); ++i) {
    const bool asks = pending().front() == "get /q/_claim-" + one;
    backend::reply listed;
    listed.children = {one, "_claim-" + one};
    answer(asks ? theirs : listed);
    if (asks) break;
  }
  BOOST_TEST(!taken.done());
  BOOST_TEST(count("multi /") == 0);
}

// The claim went with the session, so the item may be another taker's. This must be told at any step of the rejection.
BOOST_AUTO_TEST_CASE(an_item_that_is_rejected_while_its_session_ends_is_superseded) {
  auto taken = take();
  list({one});
  list({one});
  answer();
  answer_data("first");
  BOOST_TEST_REQUIRE(taken.done());
  auto rejected = record<>();
  line.async_reject(taken.result<0>(), "no good", rejected.token());
  settle();
  while (pending().front() != "multi /") answer();
  fail_at(2, errc::no_node);  // there is no folder for dead letters yet
  CHECK_PENDING("create /q", "create /q/_dead");
  expire();
  BOOST_TEST_REQUIRE(rejected.done());
  BOOST_TEST((rejected.error() == errc::superseded), rejected.error().message());
}

// One object can get an item twice: the first claim expired with its session, and then the object took the item again.
BOOST_AUTO_TEST_CASE(a_late_settlement_through_the_same_object_is_not_taken_for_the_present_one) {
  auto take_with = [this](std::int64_t zxid) {
    auto taken = take();
    list({one});
    list({one});
    answer();
    backend::reply found;
    found.stat.pzxid = zxid;
    answer(found);
    BOOST_TEST_REQUIRE(taken.done());
    BOOST_TEST(!taken.error());
    return taken.result<0>();
  };
  const auto late = take_with(5);
  expire();
  while (!pending().empty()) list({one});
  const auto present = take_with(9);
  for (bool acknowledging : {true, false}) {
    auto told = record<>();
    acknowledging ? line.async_acknowledge(late, told.token()) : line.async_return(late, told.token());
    settle();
    BOOST_TEST_REQUIRE(told.done());
    BOOST_TEST((told.error() == errc::superseded));
    CHECK_PENDING();
  }
  auto done = record<>();
  line.async_acknowledge(present, done.token());
  settle();
  CHECK_PENDING("multi /");
  answer();
  BOOST_TEST_REQUIRE(done.done());
  BOOST_TEST(!done.error());
}

BOOST_AUTO_TEST_CASE(the_end_of_the_session_is_not_the_end_of_reading) {
  auto first = next();
  fail(errc::session_expired);
  list({one});
  CHECK_PENDING("get /q/" + one);
  fail(errc::session_expired);
  CHECK_PENDING("get /q/" + one);
  answer_data("first");
  BOOST_TEST_REQUIRE(first.done());
  BOOST_TEST(!first.error());
}

BOOST_AUTO_TEST_SUITE_END()
