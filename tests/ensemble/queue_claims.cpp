// Several takers share a queue: each item is with one of them, and comes back if that one fails.
#include "ensemble/queue_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(queue_claims, queue_case)

BOOST_AUTO_TEST_CASE(two_takers_share_without_duplicates) {
  for (const auto& each : numbers(100, 139)) put(each);
  auto a = over(connect());
  auto b = over(connect());
  std::vector<std::string> seen;
  recorder<message> of_a(executor());
  recorder<message> of_b(executor());
  while (seen.size() < 40) {
    of_a = recorder<message>(executor());
    of_b = recorder<message>(executor());
    a.async_take(of_a.token());
    b.async_take(of_b.token());
    BOOST_TEST_REQUIRE(run_until([&] { return of_a.done() && of_b.done(); }));
    for (auto* each : {&of_a, &of_b}) seen.push_back(each->result<0>().data);
    expect_done(a, of_a.result<0>());
    expect_done(b, of_b.result<0>());
  }
  std::sort(seen.begin(), seen.end());
  BOOST_TEST(seen == numbers(100, 139), boost::test_tools::per_element());
  BOOST_TEST(size() == 0u);
}

BOOST_AUTO_TEST_CASE(one_object_can_take_several_at_a_time) {
  for (const auto& each : numbers(10, 29)) put(each);
  auto from = over(zk());
  std::vector<recorder<message>> taken(20, recorder<message>(executor()));
  for (auto& each : taken) {
    each = recorder<message>(executor());
    from.async_take(each.token());
  }
  BOOST_TEST_REQUIRE(
      run_until([&] { return std::all_of(taken.begin(), taken.end(), [](auto& t) { return t.done(); }); }));
  std::vector<std::string> seen;
  for (auto& each : taken) {
    seen.push_back(each.result<0>().data);
    expect_done(from, each.result<0>());
  }
  std::sort(seen.begin(), seen.end());
  BOOST_TEST(seen == numbers(10, 29), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(looking_and_taking_at_once_mixes_nothing_up) {
  std::vector<std::string> names;
  for (const auto& each : numbers(10, 19)) names.push_back(put(each));
  auto from = over(zk());
  std::vector<recorder<message>> looks(10, recorder<message>(executor()));
  std::vector<recorder<message>> takes(10, recorder<message>(executor()));
  for (std::size_t i = 0; i < looks.size(); ++i) {
    looks[i] = recorder<message>(executor());
    takes[i] = recorder<message>(executor());
    from.async_next(looks[i].token());
    from.async_take(takes[i].token());
  }
  BOOST_TEST_REQUIRE(
      run_until([&] { return std::all_of(takes.begin(), takes.end(), [](auto& t) { return t.done(); }); }));
  BOOST_TEST_REQUIRE(
      run_until([&] { return std::all_of(looks.begin(), looks.end(), [](auto& t) { return t.done(); }); }));
  for (auto* all : {&looks, &takes}) {
    for (auto& each : *all) {
      const auto place = std::find(names.begin(), names.end(), each.result<0>().name) - names.begin();
      BOOST_TEST(each.result<0>().data == std::to_string(10 + place), "name and data are of one item");
    }
  }
  for (auto& each : takes) expect_done(from, each.result<0>());
}

BOOST_AUTO_TEST_CASE(an_item_that_is_returned_is_taken_at_its_place) {
  for (const auto& each : numbers(1, 3)) put(each);
  auto from = over(zk());
  const auto first = take(from);
  const auto second = take(from);
  const auto returned = give_back(from, first);
  BOOST_TEST(!returned, returned.message());
  const auto again = take(from);
  BOOST_TEST(again.data == "1");
  expect_done(from, again);
  expect_done(from, second);
  BOOST_TEST((acknowledge(from, second) == errc::superseded), "done is done");
  BOOST_TEST((give_back(from, second) == errc::superseded));
  drain();
}

BOOST_AUTO_TEST_CASE(an_item_of_a_session_that_ends_comes_back) {
  put("1");
  auto mortal = connect();
  auto a = over(mortal);
  auto b = over(connect());
  const auto item = take(a);
  recorder<message> waiting(executor());
  b.async_take(waiting.token());
  settle(zk());
  BOOST_TEST(!waiting.done());
  cluster().expire(mortal.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.result<0>().name == item.name);
  BOOST_TEST_REQUIRE(run_until([&] { return mortal.status().incarnation == 2; }));
  BOOST_TEST((acknowledge(a, item) == errc::superseded));
  BOOST_TEST(claims() == 1u);
  expect_done(b, waiting.result<0>());
}

BOOST_AUTO_TEST_CASE(returning_too_late_takes_nothing_from_anybody) {
  put("1");
  auto mortal = connect();
  auto a = over(mortal);
  auto b = over(connect());
  const auto item = take(a);
  cluster().expire(mortal.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return mortal.status().incarnation == 2; }));
  const auto theirs = take(b);
  BOOST_TEST((give_back(a, item) == errc::superseded));
  settle(mortal);
  BOOST_TEST(claims() == 1u);
  expect_done(b, theirs);
}

BOOST_AUTO_TEST_CASE(a_take_that_is_cancelled_leaves_no_claim) {
  auto from = over(zk());
  for (auto type :
       {asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal}) {
    recorder<message> waiting(executor());
    from.async_take(waiting.token());
    settle(zk());
    waiting.cancel(type);
    BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
    BOOST_TEST(waiting.error() == asio::error::operation_aborted);
  }
  put("1");
  BOOST_TEST(drain() == numbers(1, 1));
}

BOOST_AUTO_TEST_CASE(so_does_one_whose_claim_is_on_its_way) {
  put("1");
  auto far = connect_far();
  auto from = over(far);
  settle(far);
  own().freeze(true);
  recorder<message> taking(executor());
  from.async_take(taking.token());
  own().freeze(false);
  BOOST_TEST_REQUIRE(run_until([&] { return taking.done(); }));
  BOOST_TEST(!give_back(from, taking.result<0>()));
  const auto before = far.counters().requests;
  taking = recorder<message>(executor());
  from.async_take(taking.token());
  BOOST_TEST_REQUIRE(run_until([&] { return far.counters().requests >= before + 2; }), "the list, and the claim");
  taking.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return taking.done(); }));
  if (!taking.error()) BOOST_TEST(!give_back(from, taking.result<0>()));
  settle(far);
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
  BOOST_TEST(drain() == numbers(1, 1));
}

BOOST_AUTO_TEST_CASE(and_one_that_is_still_settling_a_lost_reply) {
  put("1");
  auto far = connect_far();
  auto from = over(far);
  own().drop_reply(testcluster::op::multi);
  own().refuse(true);
  recorder<message> taking(executor());
  from.async_take(taking.token());
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  BOOST_TEST(run_until([&] { return claims() == 1; }), "seen also on the server that we ask");
  BOOST_TEST(!taking.done());
  taking.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return taking.done(); }));
  BOOST_TEST(taking.error() == asio::error::operation_aborted);
  reconnect();
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
  BOOST_TEST(drain() == numbers(1, 1));
}

// To give a claim back corrects the item's attempts, which takes a request with its data.
BOOST_AUTO_TEST_CASE(and_one_of_an_item_that_is_larger_than_its_session_sends) {
  put(std::string(10'000, 'x'));
  auto with = far_options();
  with.jute_maxbuffer = 2'000;
  auto far = connect_far(with);
  auto from = over(far);
  own().drop_reply(testcluster::op::multi);
  own().refuse(true);
  recorder<message> taking(executor());
  from.async_take(taking.token());
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  BOOST_TEST(run_until([&] { return claims() == 1; }), "seen also on the server that we ask");
  taking.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return taking.done(); }));
  reconnect();
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
  BOOST_TEST(drain().size() == 1u);
}

BOOST_AUTO_TEST_CASE(lost_replies_change_nothing) {
  // The first transaction is the claim, and the second one is the acknowledgement.
  using lossy_step = std::pair<std::int32_t, int>;
  const std::vector<lossy_step> lossy{{testcluster::op::get_children2, 1},
                                      {testcluster::op::multi, 1},
                                      {testcluster::op::get_data, 1},
                                      {testcluster::op::multi, 2}};
  auto far = connect_far();
  std::size_t drops = 0;
  for (auto [op, k] : lossy) {
    for (bool executed : {true, false}) {
      put("1");
      put("2");
      auto from = over(far);
      executed ? own().drop_reply(op, k) : own().drop_request(op, k);
      const auto first = take(from);
      BOOST_TEST(first.data == "1", "in order; operation " << op);
      expect_done(from, first);
      const auto second = take(from);
      BOOST_TEST(second.data == "2");
      expect_done(from, second);
      BOOST_TEST(size() == 0u);
      BOOST_TEST(claims() == 0u);
      BOOST_TEST(own().drops() == ++drops);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_taker_whose_session_ends_while_it_takes_goes_on_in_the_next) {
  for (const auto& each : numbers(1, 3)) put(each);
  auto far = connect_far();
  auto from = over(far);
  const auto first = take(from);
  own().drop_request(testcluster::op::multi);
  own().refuse(true);
  recorder<message> next(executor());
  from.async_take(next.token());
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  cluster().expire(far.status().session_id);
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return next.done(); }));
  BOOST_TEST(!next.error(), next.error().message());
  BOOST_TEST(far.status().incarnation == 2u);
  BOOST_TEST(next.result<0>().data == "1", "the claim on it is gone with the session");
  expect_done(from, next.result<0>());
  drain();
}

BOOST_AUTO_TEST_CASE(a_queue_that_is_wiped_out_begins_anew) {
  for (const auto& each : numbers(1, 3)) put(each);
  auto from = over(connect());
  const auto first = take(from);
  for (const auto& each : children("/q")) remove("/q/" + each);
  remove("/q");
  recorder<message> next(executor());
  from.async_take(next.token());
  BOOST_TEST(run_until([&] { return exists("/q"); }, 10s));
  BOOST_TEST(!next.done());
  put("4");
  BOOST_TEST_REQUIRE(run_until([&] { return next.done(); }));
  BOOST_TEST(next.result<0>().data == "4");
  expect_done(from, next.result<0>());
}

BOOST_AUTO_TEST_SUITE_END()
