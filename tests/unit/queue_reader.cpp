// Taking from a queue through one object: the order, several takes at once, and what can not be taken.
// Taking from a queue through one object: cancelled takes, lost replies, and sessions that end.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <zkrecipes/queue.hpp>

#include "queue/queue_layout.hpp"
#include "unit/fake_session.hpp"

namespace zkrecipes::test {

// Takes from a queue through one object; the test answers the requests.

struct reading : fake_session {
  inline static const std::string one = "qn-0000000001";
  inline static const std::string two = "qn-0000000002";
  inline static const std::string three = "qn-0000000003";

  reading() : line(zk, "/q") { connect(); }

  recorder<message> next() { return line.async_next(begun()); }
  recorder<message> take() { return line.async_take(begun()); }
  backend::request answer_data(std::string data) { return answer_with({.data = std::move(data)}); }
  /// Refuses the oldest request, a transaction, because of its operation number `place`.
  void fail_at(std::size_t place, errc why) {
    backend::reply refused;
    refused.error = why;
    refused.results.assign(3, {errc::rolled_back, {}, {}});
    refused.results[place].error = why;
    answer(refused);
  }
  long count(const std::string& request) {
    const auto all = pending();
    return std::count(all.begin(), all.end(), request);
  }
  queue line;
};

}  // namespace zkrecipes::test

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
  answer_with({.data = "second", .stat = {.cversion = 6}});
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
  auto taken = watched.async_take(begun());
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
  BOOST_TEST_REQUIRE(ended_with(taken, errc::foreign_data));
  auto followed = next();
  list({"entry-042-0000000007"});
  BOOST_TEST_REQUIRE(ended_with(followed, errc::foreign_data));
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
    answer_with({.data = guid});
    answer_with({.data = "first", .stat = {.version = 4}});
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
  auto taken = line.async_take_many(2, begun());
  list({one, two});
  CHECK_PENDING("children /q", "multi /", "get /q/" + one, "multi /", "get /q/" + two);
  list({one, two});
  answer();
  answer_with({.data = "first", .stat = {.version = 4}});
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
  answer_with({.data = "another GUID"});
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
  auto taken = q.async_take(it.begun());
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
  auto popped = line.async_pop(begun());
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
  BOOST_TEST_REQUIRE(ended_with(popped, errc::outcome_unknown));
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
  auto rejected = line.async_reject(taken.result<0>(), "no good", begun());
  while (pending().front() != "multi /") answer();
  fail_at(2, errc::no_node);  // there is no folder for dead letters yet
  CHECK_PENDING("create /q", "create /q/_dead");
  expire();
  BOOST_TEST_REQUIRE(ended_with(rejected, errc::superseded));
}

// One object can get an item twice: the first claim expired with its session, and then the object took the item again.
BOOST_AUTO_TEST_CASE(a_late_settlement_through_the_same_object_is_not_taken_for_the_present_one) {
  auto take_with = [this](std::int64_t zxid) {
    auto taken = take();
    list({one});
    list({one});
    answer();
    answer_with({.stat = {.pzxid = zxid}});
    BOOST_TEST_REQUIRE(succeeded(taken));
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
    BOOST_TEST_REQUIRE(ended_with(told, errc::superseded));
    CHECK_PENDING();
  }
  auto done = line.async_acknowledge(present, begun());
  CHECK_PENDING("multi /");
  answer();
  BOOST_TEST_REQUIRE(succeeded(done));
}

BOOST_AUTO_TEST_CASE(the_end_of_the_session_is_not_the_end_of_reading) {
  auto first = next();
  fail(errc::session_expired);
  list({one});
  CHECK_PENDING("get /q/" + one);
  fail(errc::session_expired);
  CHECK_PENDING("get /q/" + one);
  answer_data("first");
  BOOST_TEST_REQUIRE(succeeded(first));
}

BOOST_AUTO_TEST_SUITE_END()
