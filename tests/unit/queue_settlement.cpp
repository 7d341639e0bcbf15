// The end of an item: which acknowledgement was executed, if replies were lost or nobody waited for them.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include <zkrecipes/queue.hpp>

#include "unit/fake_session.hpp"

namespace zkrecipes::test {

// An item that was taken and is to be settled; the test answers the requests.

struct settling : fake_session {
  const std::string one = "qn-0000000001";
  const std::string claim = "/q/_claim-" + one;

  settling() : line(zk, "/q") {
    connect();
    take();
  }
  void take() {
    auto taken = line.async_take(begun());
    list({one});
    list({one});
    answer();
    answer_data("data");
    item = taken.result<0>();
  }
  recorder<> acknowledge(transaction effects = {}) { return line.async_acknowledge(item, std::move(effects), begun()); }
  /// Takes the item again with a claim of its own, while the oldest request, the settlement by the earlier claim, is in
  /// flight. Returns that request, without an answer.
  auto take_again() {
    auto again = line.async_take(begun());
    CHECK_PENDING("multi /", "children /q");
    auto ending = std::move(last().pending.front());
    last().pending.pop_front();
    list({one});
    while (!pending().empty() && pending().front() == "children /q") list({one});
    CHECK_PENDING("multi /", "get /q/" + one);
    answer();
    answer_with({.stat = {.pzxid = 8}});
    BOOST_TEST_REQUIRE(again.done());
    return ending;
  }
  /// Does the same, and then loses the reply to that settlement, so that the claim is read for its mark. Returns the
  /// mark.
  std::string take_again_and_lose_reply() {
    const auto ending = take_again();
    last().pending.push_front(ending);
    reconnect();
    while (!pending().empty() && pending().front() != "get " + claim) answer();
    CHECK_PENDING("get " + claim);
    return ending.first.operations.at(0).data;
  }
  /// Gives the item back while its acknowledgement is in flight, and loses both replies. Each read of the claim finds
  /// none; the next pending request asks whether the item still exists.
  recorder<> acknowledge_and_give_back(const transaction& effects) {
    auto done = acknowledge(effects);
    auto returned = line.async_return(item, begun());
    reconnect();
    const auto look = "exists /q/" + one;
    while (!pending().empty() && pending().front() != look) fail(errc::no_node);
    BOOST_TEST_REQUIRE(!pending().empty());
    return done;
  }
  backend::request answer_data(std::string data) { return answer_with({.data = std::move(data)}); }
  /// Refuses the oldest request, a transaction, because its claim (`place` 0) or its item (`place` 1) has gone.
  void fail_at(std::size_t place) {
    backend::reply refused;
    refused.error = errc::no_node;
    refused.results.assign(3, {errc::rolled_back, {}, {}});
    refused.results[place].error = errc::no_node;
    answer(refused);
  }

  queue line;
  message item;
  const transaction effect_a = transaction().create("/effect-a");
  const transaction effect_b = transaction().create("/effect-b");
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(queue_settlements, settling)

BOOST_AUTO_TEST_CASE(without_effects_the_claim_goes_at_once_and_with_effects_behind) {
  auto plain = acknowledge();
  CHECK_PENDING("multi /");
  const auto sent = answer();
  BOOST_TEST((sent.operations.at(0).type == operation::kind::remove));
  BOOST_TEST(!plain.error());
  CHECK_PENDING();
}

// The first acknowledgement was executed, although its caller had cancelled it. The second one, with other effects,
// must not take that for its own success.
BOOST_AUTO_TEST_CASE(an_acknowledgement_is_not_settled_by_the_effects_of_another) {
  auto first = acknowledge(effect_a);
  first.cancel();
  settle();
  BOOST_TEST_REQUIRE(first.done());
  auto second = acknowledge(effect_b);
  CHECK_PENDING("multi /", "get " + claim, "multi /");
  const auto sent = answer();
  BOOST_TEST_REQUIRE((sent.operations.at(0).type == operation::kind::set));
  answer_data(sent.operations[0].data);
  fail_at(1);
  BOOST_TEST_REQUIRE(ended_with(second, errc::superseded));
  BOOST_TEST(std::ranges::count(pending(), "remove " + claim) >= 1);
}

BOOST_AUTO_TEST_CASE(the_same_again_after_it_was_given_up_is_told_what_became_of_the_first) {
  auto first = acknowledge(effect_a);
  first.cancel();
  settle();
  auto second = acknowledge(effect_a);
  const auto sent = answer();
  answer_data(sent.operations.at(0).data);
  fail_at(1);
  BOOST_TEST_REQUIRE(succeeded(second));
}

BOOST_AUTO_TEST_CASE(one_whose_reply_was_lost_is_known_by_its_mark) {
  auto done = acknowledge(effect_a);
  reconnect();
  CHECK_PENDING("multi /");
  const auto mark = last().pending.front().first.operations.at(0).data;
  fail_at(1);
  CHECK_PENDING("get " + claim, "exists /q/" + one);
  answer_data(mark);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(succeeded(done));
  CHECK_PENDING("remove " + claim);
}

// An operator removed our claim, and by now another taker may have a claim there.
BOOST_AUTO_TEST_CASE(the_claim_of_another_is_not_removed) {
  auto late = acknowledge(effect_a);
  fail_at(0);
  BOOST_TEST_REQUIRE(ended_with(late, errc::superseded));
  CHECK_PENDING();
}

// The replies to both acknowledgements were lost.
BOOST_AUTO_TEST_CASE(of_two_with_different_effects_the_mark_tells_which_was_done) {
  auto first = acknowledge(effect_a);
  auto second = acknowledge(effect_b);
  reconnect();
  CHECK_PENDING("multi /", "multi /");
  const auto mark_of_second = last().pending.back().first.operations.at(0).data;
  fail_at(1);
  fail_at(1);
  CHECK_PENDING("get " + claim, "exists /q/" + one, "get " + claim, "exists /q/" + one);
  for (int i = 0; i < 2; ++i) {
    answer_data(mark_of_second);
    fail(errc::no_node);
  }
  BOOST_TEST_REQUIRE((first.done() && second.done()));
  BOOST_TEST((first.error() == errc::superseded), first.error().message());
  BOOST_TEST(!second.error(), second.error().message());
}

// Both replies were lost. Settling the first ends our hold on the item, and removes the claim with the mark of the
// second.
BOOST_AUTO_TEST_CASE(one_whose_mark_was_removed_for_another_says_that_it_does_not_know) {
  auto first = acknowledge(effect_a);
  auto second = acknowledge(effect_b);
  reconnect();
  const auto mark_of_second = last().pending.back().first.operations.at(0).data;
  fail_at(1);
  throttle();
  answer_data(mark_of_second);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(first, errc::superseded));
  CHECK_PENDING("remove " + claim);
  answer();
  advance(75ms);
  CHECK_PENDING("multi /");
  fail_at(0);
  CHECK_PENDING("get " + claim);
  fail(errc::no_node);
  CHECK_PENDING("exists /q/" + one);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(second, errc::outcome_unknown));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(one_whose_claim_has_gone_and_whose_item_is_there_was_not_done) {
  auto done = acknowledge_and_give_back(effect_a);
  answer();
  BOOST_TEST_REQUIRE(ended_with(done, errc::superseded));
}

// Two acknowledgements with the same effects share one mark. The cancelled one finds the mark, and removes it before
// the other one has looked.
BOOST_AUTO_TEST_CASE(one_whose_mark_was_taken_away_by_its_twin_was_done) {
  auto twin = acknowledge(effect_a);
  reconnect();
  auto done = acknowledge(effect_a);
  const auto mark = last().pending.front().first.operations.at(0).data;
  fail_at(1);
  fail_at(1);
  twin.cancel();
  settle();
  CHECK_PENDING("get " + claim, "exists /q/" + one, "get " + claim, "exists /q/" + one, "get " + claim);
  fail(errc::no_node);  // the looks of the cancelled one: their answers do not matter
  fail(errc::no_node);
  throttle();
  throttle();
  answer_data(mark);
  CHECK_PENDING("remove " + claim);
  answer();
  advance(75ms);
  CHECK_PENDING("get " + claim, "exists /q/" + one);
  fail(errc::no_node);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(succeeded(done));
}

// An operator removed the claim while an acknowledgement was in flight, and then this object took the item again.
BOOST_AUTO_TEST_CASE(one_that_was_done_is_done_although_the_item_was_taken_again) {
  auto done = acknowledge(effect_a);
  const auto acknowledging = take_again();
  last().pending.push_front(acknowledging);
  answer();
  BOOST_TEST_REQUIRE(succeeded(done));
  BOOST_TEST(std::ranges::count(pending(), "remove " + claim) == 1);
}

// The same, but the reply was lost: the mark in the claim tells that it was done.
BOOST_AUTO_TEST_CASE(one_whose_item_is_no_longer_held_is_still_judged_by_its_mark) {
  auto done = acknowledge(effect_a);
  answer_data(take_again_and_lose_reply());
  BOOST_TEST_REQUIRE(succeeded(done));
  BOOST_TEST(std::ranges::count(pending(), "remove " + claim) == 1);
}

BOOST_AUTO_TEST_CASE(one_that_is_cancelled_while_it_is_judged_leaves_no_claim) {
  auto done = acknowledge(effect_a);
  reconnect();
  const auto mark = last().pending.front().first.operations.at(0).data;
  fail_at(1);
  CHECK_PENDING("get " + claim, "exists /q/" + one);
  done.cancel();
  settle();
  BOOST_TEST_REQUIRE(done.done());
  answer_data(mark);
  fail(errc::no_node);
  CHECK_PENDING("get " + claim);
  answer_data(mark);
  CHECK_PENDING("remove " + claim);
}

BOOST_AUTO_TEST_CASE(nor_does_one_whose_item_was_no_longer_held) {
  auto done = acknowledge(effect_a);
  const auto mark = take_again_and_lose_reply();
  done.cancel();
  settle();
  BOOST_TEST_REQUIRE(done.done());
  CHECK_PENDING("get " + claim, "get " + claim);
  answer_data(mark);
  answer_data(mark);
  CHECK_PENDING("remove " + claim);
}

BOOST_AUTO_TEST_CASE(one_without_effects_that_is_no_longer_held_is_judged_by_its_item) {
  for (const bool is_there : {false, true}) {
    auto done = acknowledge_and_give_back(transaction());
    is_there ? void(answer()) : void(fail(errc::no_node));
    BOOST_TEST_REQUIRE(done.done());
    BOOST_TEST((done.error() == (is_there ? errc::superseded : error_code())), done.error().message());
    while (!pending().empty()) answer();
    if (!is_there) take();
  }
}

BOOST_AUTO_TEST_CASE(one_that_is_no_longer_held_when_the_session_is_closed_is_told_that) {
  auto done = acknowledge();
  auto returned = line.async_return(item, begun());
  auto closing = zk.async_close(begun());
  lose(errc::closed);
  BOOST_TEST_REQUIRE(ended_with(done, errc::closed));
}

// An operator removed the claim, and another taker may have taken and acknowledged the item.
BOOST_AUTO_TEST_CASE(a_claim_that_has_gone_is_no_proof_that_the_effects_were_done) {
  auto done = acknowledge(effect_a);
  reconnect();
  fail_at(0);
  fail(errc::no_node);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(done, errc::outcome_unknown));
}

BOOST_AUTO_TEST_CASE(an_item_that_is_still_there_was_not_done) {
  for (bool has_effects : {false, true}) {
    auto done = acknowledge(has_effects ? effect_a : transaction());
    reconnect();
    fail_at(0);
    fail(errc::no_node);
    answer();
    BOOST_TEST_REQUIRE(ended_with(done, errc::superseded));
    if (has_effects) return;
    auto taken = record<message>();  // again, because the claim has gone
    line.async_take(taken.token());
    settle();
    while (!taken.done()) pending().front() == "children /q" ? list({one}) : (void)answer();
    item = taken.result<0>();
  }
}

BOOST_AUTO_TEST_CASE(an_item_without_effects_that_has_gone_is_done) {
  auto done = acknowledge();
  reconnect();
  fail_at(0);
  fail(errc::no_node);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(succeeded(done));
}

BOOST_AUTO_TEST_CASE(when_the_session_has_ended_over_a_lost_reply_the_item_tells) {
  auto done = acknowledge(effect_a);
  expire();
  CHECK_PENDING("get " + claim, "exists /q/" + one);
  fail(errc::no_node);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(done, errc::outcome_unknown));
}

BOOST_AUTO_TEST_SUITE_END()

// An item that is given back in place: what its taker is told, and that its claim goes in any case.
namespace {

struct returning : settling {
  recorder<> give_back() {
    auto made = line.async_return(item, begun());
    BOOST_TEST_REQUIRE(!pending().empty());
    BOOST_TEST(pending().front() == "remove " + claim);
    return made;
  }
  /// Answers what is asked in the background to see whether the claim is still there: it is not.
  void lose_claim_in_background() {
    std::size_t looks = 0;
    for (; !pending().empty(); fail(errc::no_node)) looks += pending().front() == "get " + claim ? 1 : 0;
    BOOST_TEST(looks == 1u);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_returns, returning)

BOOST_AUTO_TEST_CASE(a_return_in_place_completes_when_the_claim_has_gone) {
  auto returned = give_back();
  BOOST_TEST(!returned.done());
  answer();
  BOOST_TEST_REQUIRE(succeeded(returned));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_return_in_place_whose_wait_is_cancelled_is_told_so_and_done_all_the_same) {
  auto returned = give_back();
  returned.cancel();
  settle();
  BOOST_TEST_REQUIRE(ended_with(returned, asio::error::operation_aborted));
  lose_claim_in_background();
}

BOOST_AUTO_TEST_CASE(a_return_in_place_goes_on_in_the_background_after_a_lost_reply) {
  auto returned = give_back();
  reconnect();
  BOOST_TEST_REQUIRE(succeeded(returned));
  lose_claim_in_background();
}

BOOST_AUTO_TEST_CASE(a_return_in_place_is_told_that_the_claim_went_before) {
  auto returned = give_back();
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(returned, errc::superseded));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_return_in_place_that_the_server_refuses_is_told_so) {
  auto returned = give_back();
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(ended_with(returned, errc::no_auth));
}

BOOST_AUTO_TEST_CASE(a_return_in_place_whose_session_is_closed_is_told_that) {
  auto returned = give_back();
  auto closing = zk.async_close(begun());
  lose(errc::closed);
  BOOST_TEST_REQUIRE(ended_with(returned, errc::closed));
}

BOOST_AUTO_TEST_SUITE_END()
