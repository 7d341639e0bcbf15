// At most once: an item is removed, then handed out.
#include "ensemble/queue_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(queue_pop, queue_case)

BOOST_AUTO_TEST_CASE(items_come_in_order_and_are_gone) {
  for (const auto& each : numbers(1, 5)) put(each);
  auto from = over(zk());
  for (const auto& each : numbers(1, 5)) {
    const auto item = pop(from);
    BOOST_TEST(item.data == each);
    BOOST_TEST(item.attempts == 1);
    BOOST_TEST((acknowledge(from, item) == errc::superseded), "there is nothing to acknowledge");
  }
  BOOST_TEST(size() == 0u);
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
}

BOOST_AUTO_TEST_CASE(it_keeps_off_what_others_have_claimed) {
  for (const auto& each : numbers(1, 3)) put(each);
  auto takes = over(connect());
  auto other = connect();
  auto pops = over(other);
  const auto first = take(takes);
  settle(other);
  BOOST_TEST(pop(pops).data == "2");
  const auto third = take(takes);
  BOOST_TEST(third.data == "3");
  expect_done(takes, first);
  expect_done(takes, third);
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
}

BOOST_AUTO_TEST_CASE(each_item_is_popped_by_one) {
  for (const auto& each : numbers(100, 139)) put(each);
  auto a = over(connect());
  auto b = over(connect());
  std::vector<std::string> seen;
  while (seen.size() < 40) {
    recorder<message> of_a(executor());
    recorder<message> of_b(executor());
    a.async_pop(of_a.token());
    b.async_pop(of_b.token());
    BOOST_TEST_REQUIRE(run_until([&] { return of_a.done() && of_b.done(); }));
    for (auto* each : {&of_a, &of_b}) seen.push_back(each->result<0>().data);
  }
  std::sort(seen.begin(), seen.end());
  BOOST_TEST(seen == numbers(100, 139), boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
}

BOOST_AUTO_TEST_CASE(lost_replies_lose_nothing_and_double_nothing) {
  auto far = connect_far();
  std::size_t drops = 0;
  for (auto op : {testcluster::op::get_data, testcluster::op::multi}) {
    for (bool executed : {true, false}) {
      put("1");
      put("2");
      put("3");
      auto from = over(far);
      executed ? own().drop_reply(op) : own().drop_request(op);
      for (const auto& each : numbers(1, 3)) BOOST_TEST(pop(from).data == each);
      BOOST_TEST(size() == 0u);
      BOOST_TEST(own().drops() == ++drops);
      BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
    }
  }
}

BOOST_AUTO_TEST_CASE(whose_session_ends_in_between_is_told_which_item_it_may_have_been) {
  put("1");
  put("2");
  auto far = connect_far();
  auto from = over(far);
  own().drop_reply(testcluster::op::multi);
  own().refuse(true);
  recorder<message> popping(executor());
  from.async_pop(popping.token());
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  BOOST_TEST(run_until([&] { return size() == 1; }));
  cluster().expire(far.status().session_id);
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return popping.done(); }));
  BOOST_TEST(popping.error() == errc::outcome_unknown);
  BOOST_TEST(popping.result<0>().data == "1");
  BOOST_TEST(pop(from).data == "2");
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
}

BOOST_AUTO_TEST_CASE(if_it_was_not_removed_the_next_session_removes_it) {
  put("1");
  auto far = connect_far();
  auto from = over(far);
  own().drop_request(testcluster::op::multi);
  own().refuse(true);
  recorder<message> popping(executor());
  from.async_pop(popping.token());
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  cluster().expire(far.status().session_id);
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return popping.done(); }));
  BOOST_TEST(!popping.error(), popping.error().message());
  BOOST_TEST(popping.result<0>().data == "1");
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
}

BOOST_AUTO_TEST_CASE(a_pop_that_waits_can_be_cancelled) {
  auto from = over(zk());
  recorder<message> waiting(executor());
  from.async_pop(waiting.token());
  settle(zk());
  waiting.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.error() == asio::error::operation_aborted);
  put("1");
  BOOST_TEST(drain() == numbers(1, 1));
}

BOOST_AUTO_TEST_SUITE_END()
