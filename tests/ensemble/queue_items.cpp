// Items: put, taken, worked off in order.
#include "ensemble/queue_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(queue_items, queue_case)

BOOST_AUTO_TEST_CASE(first_in_first_out) {
  std::string last;
  for (const auto& each : numbers(1, 12)) {
    const auto name = put(each);
    BOOST_TEST(name > last);
    last = name;
  }
  BOOST_TEST(drain() == numbers(1, 12), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(any_bytes_are_kept_as_they_are) {
  std::string binary;
  for (int i = 0; i < 1024; ++i) binary.push_back(static_cast<char>(i));
  const std::vector<std::string> items{"", binary, std::string(100'000, 'x'), std::string(1, '\0'), "last"};
  for (const auto& each : items) put(each);
  const auto seen = drain();
  BOOST_TEST_REQUIRE(seen.size() == items.size());
  for (std::size_t i = 0; i < items.size(); ++i) BOOST_TEST((seen[i] == items[i]), "item " << i);
}

BOOST_AUTO_TEST_CASE(what_no_server_takes_is_refused) {
  const std::string large(1'100'000, 'x');
  put("small");
  const auto before = zk().counters().connects;
  auto result = run(over(zk()).async_put(large, tuple));
  BOOST_TEST(std::get<0>(result) == errc::too_large);
  auto of_producer = run(make_producer(zk(), "p").async_put(large, tuple));
  BOOST_TEST(std::get<0>(of_producer) == errc::too_large);
  auto next = run(make_producer(zk(), "p").async_put("next", tuple));
  BOOST_TEST(!std::get<0>(next), std::get<0>(next).message());
  const std::vector<std::string> expected{"small", "next"};
  BOOST_TEST(drain() == expected, boost::test_tools::per_element());
  BOOST_TEST(zk().counters().connects == before);
}

BOOST_AUTO_TEST_CASE(the_size_counts_items_and_nothing_else) {
  BOOST_TEST(std::get<0>(run(over(zk()).async_size(tuple))) == errc::no_node);
  put("1");
  put("2");
  create("/q/note");
  create("/q/xqn-0000000000");
  auto from = over(zk());
  auto item = take(from);
  BOOST_TEST(claims() == 1u);
  BOOST_TEST(size() == 2u, "a claim is none");
  expect_done(from, item);
  BOOST_TEST(size() == 1u);
  remove("/q/note");
  remove("/q/xqn-0000000000");
  drain();
}

BOOST_AUTO_TEST_CASE(foreign_nodes_are_ignored) {
  create("/q");
  create("/q/0000000000", "first of all?");
  create("/q/qn-", "no number");
  create("/q/qn-12", "short");
  put("1");
  const auto item = take(over(zk()));
  BOOST_TEST(item.data == "1");
  remove("/q/_claim-" + item.name);
  remove("/q/" + item.name);
  for (const auto* each : {"/q/0000000000", "/q/qn-", "/q/qn-12"}) remove(each);
}

BOOST_AUTO_TEST_CASE(an_item_that_curator_put_is_one_of_ours) {
  create("/q");
  auto made = run(zk().async_create("/q/qn-", "from elsewhere", create_mode::persistent_sequential, tuple));
  BOOST_TEST(!std::get<0>(made));
  put("ours");
  const std::vector<std::string> expected{"from elsewhere", "ours"};
  BOOST_TEST(drain() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_taker_waits_for_an_item) {
  auto from = over(zk());
  recorder<message> taken(executor());
  from.async_take(taken.token());
  BOOST_TEST(run_until([&] { return exists("/q"); }));
  BOOST_TEST(!taken.done());
  put("1");
  BOOST_TEST_REQUIRE(run_until([&] { return taken.done(); }));
  BOOST_TEST(taken.result<0>().data == "1");
  expect_done(from, taken.result<0>());
}

BOOST_AUTO_TEST_CASE(a_reader_that_is_alone_removes_items_itself) {
  for (const auto& each : numbers(1, 5)) put(each);
  auto from = over(zk());
  for (const auto& each : numbers(1, 5)) {
    auto [error, item] = run(from.async_next(tuple));
    BOOST_TEST(!error, error.message());
    BOOST_TEST(item.data == each);
    auto [again_error, again] = run(from.async_next(tuple));
    BOOST_TEST(again.name == item.name, "it stays the first until it is removed");
    auto removed = run(zk().async_commit(from.removal(item), tuple));
    BOOST_TEST(!std::get<0>(removed));
  }
  recorder<message> next(executor());
  from.async_next(next.token());
  settle(zk());
  BOOST_TEST(!next.done());
  next.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return next.done(); }));
  BOOST_TEST(next.error() == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_CASE(a_reader_with_an_old_list_looks_again) {
  for (const auto& each : numbers(1, 20)) put(each);
  auto from = over(zk());
  BOOST_TEST(std::get<1>(run(from.async_next(tuple))).data == "1");
  drain();
  put("21");
  const auto before = zk().counters().requests;
  auto [error, item] = run(from.async_next(tuple));
  BOOST_TEST(item.data == "21");
  BOOST_TEST(zk().counters().requests - before < 10u, "not one look for each item that is gone");
  drain();
}

BOOST_AUTO_TEST_CASE(a_put_whose_reply_is_lost_says_so) {
  put("0");
  auto far = connect_far();
  for (bool executed : {true, false}) {
    settle(far);
    executed ? own().drop_reply(testcluster::op::create2) : own().drop_request(testcluster::op::create2);
    auto result = run(over(far).async_put("1", tuple));
    BOOST_TEST(std::get<0>(result) == errc::outcome_unknown);
    BOOST_TEST(size() == 2u, "it was put the first time, and not the second");
  }
  disconnect(far);
  recorder<std::string> waiting(executor());
  over(far).async_put("2", waiting.token());
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(!waiting.error(), "what was not sent can not be lost");
  drain();
}

BOOST_AUTO_TEST_SUITE_END()

// At most once: an item is removed, then handed out.

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
