// Items: put, taken, worked off in order.
#include <set>

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
  auto taken = from.async_take(recorded());
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
  auto next = from.async_next(recorded());
  settle(zk());
  BOOST_TEST(!next.done());
  next.cancel();
  BOOST_TEST_REQUIRE(ends_with(next, asio::error::operation_aborted));
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
  auto waiting = over(far).async_put("2", recorded());
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(!waiting.error(), "what was not sent can not be lost");
  drain();
}

BOOST_AUTO_TEST_SUITE_END()

// Several items in one put or take, and long queues.
namespace {

class batches : public queue_case {
 public:
  session logged() {
    auto made = log.connect(*this);
    settle(made);
    log.clear();
    return made;
  }
  void fill(int items) {
    auto into = over(zk());
    for (int from = 0; from < items; from += 1000) {
      std::vector<std::string> some;
      for (int i = from; i < std::min(items, from + 1000); ++i) some.push_back(std::to_string(i));
      auto made = run(into.async_put_many(std::move(some), tuple));
      BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
    }
  }
  void empty() {
    auto from = over(zk());
    std::vector<message> some;
    for (auto left = size(); left > 0; left -= some.size()) {
      some = std::get<1>(run(from.async_take_many(1000, tuple)));
      BOOST_TEST_REQUIRE(!some.empty());
      for (auto& each : some) from.async_acknowledge(each, [](error_code) {});
    }
    BOOST_TEST(run_until([&] { return size() == 0; }));
  }
  request_log log;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_batches, batches)

BOOST_AUTO_TEST_CASE(many_are_put_in_one_transaction_in_order) {
  auto busy = logged();
  put("0");
  log.clear();
  auto [error, names] = run(over(busy).async_put_many(numbers(1, 50), tuple));
  BOOST_TEST(!error, error.message());
  BOOST_TEST(names.size() == 50u);
  BOOST_TEST(std::is_sorted(names.begin(), names.end()));
  BOOST_TEST(log.count("multi") == 1);
  BOOST_TEST(log.count("create") == 0);
  auto expected = numbers(0, 50);
  BOOST_TEST(drain() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(more_than_a_server_takes_is_refused_before_it_is_sent) {
  auto busy = logged();
  auto into = over(busy);
  auto answer_to = [&](std::vector<std::string> items) {
    return std::get<0>(run(into.async_put_many(std::move(items), tuple)));
  };
  BOOST_TEST(answer_to({}) == errc::bad_arguments);
  BOOST_TEST(answer_to(std::vector<std::string>(10, std::string(100'000, 'x'))) == errc::too_large);
  BOOST_TEST(answer_to(std::vector<std::string>(20'000)) == errc::too_large);
  BOOST_TEST(log.all().empty());
  BOOST_TEST(busy.counters().connects == 1u);
  run(zk().async_ensure_path("/q", tuple));
  BOOST_TEST(!std::get<0>(run(into.async_put_many(std::vector<std::string>(9, std::string(100'000, 'x')), tuple))));
  BOOST_TEST(size() == 9u);
  drain();
}

BOOST_AUTO_TEST_CASE(a_batch_whose_reply_is_lost_says_so) {
  put("0");
  auto far = connect_far();
  for (bool executed : {true, false}) {
    settle(far);  // a connection that takes a session up begins with a transaction, too: that one must not be dropped
    executed ? own().drop_reply(testcluster::op::multi) : own().drop_request(testcluster::op::multi);
    auto result = run(over(far).async_put_many(numbers(1, 3), tuple));
    BOOST_TEST(std::get<0>(result) == errc::outcome_unknown);
    BOOST_TEST(size() == 4u, "all of them the first time, none the second");
  }
  drain();
}

BOOST_AUTO_TEST_CASE(many_are_taken_in_one_round_trip) {
  for (const auto& each : numbers(1, 6)) put(each);
  auto with = far_options();
  with.trace = log.hook();
  auto far = connect_far(with);
  auto from = over(far);
  auto first = take(from);
  constexpr auto round_trip = 600ms;
  own().set_delay(round_trip / 2);
  log.clear();
  const auto began = std::chrono::steady_clock::now();
  auto [error, some] = run(from.async_take_many(4, tuple));
  const auto took = std::chrono::steady_clock::now() - began;
  own().set_delay(0ms);
  BOOST_TEST(!error, error.message());
  BOOST_TEST((took >= round_trip));
  BOOST_TEST((took < 3 * round_trip), "four claims, one after the other, take four");
  std::vector<std::string> seen;
  for (auto& each : some) seen.push_back(each.data);
  BOOST_TEST(seen == numbers(2, 5), boost::test_tools::per_element());
  BOOST_TEST(log.count("multi") == 4);
  auto rest = run(from.async_take_many(1000, tuple));
  BOOST_TEST(std::get<1>(rest).size() == 1u, "what there is");
  expect_done(from, first);
  for (auto& each : some) expect_done(from, each);
  expect_done(from, std::get<1>(rest)[0]);
  for (std::size_t bad : {0, 1001}) {
    BOOST_TEST(std::get<0>(run(from.async_take_many(bad, tuple))) == errc::bad_arguments);
  }
}

BOOST_AUTO_TEST_CASE(a_take_of_many_that_is_cancelled_leaves_no_claim) {
  for (const auto& each : numbers(1, 20)) put(each);
  auto far = connect_far();
  auto from = over(far);
  expect_done(from, take(from));
  own().freeze(true);
  auto taking = from.async_take_many(10, recorded());
  const auto before = far.counters().requests;
  BOOST_TEST_REQUIRE(run_until([&] { return far.counters().requests > before; }));
  taking.cancel();
  BOOST_TEST_REQUIRE(ends_with(taking, asio::error::operation_aborted));
  own().freeze(false);
  settle(far);
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
  BOOST_TEST(drain() == numbers(2, 20), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ten_thousand_items_are_not_listed_for_each_take) {
  fill(10'000);
  auto busy = logged();
  auto from = over(busy);
  for (int i = 0; i < 50; ++i) {
    auto item = take(from);
    BOOST_TEST(item.data == std::to_string(i));
    expect_done(from, item);
  }
  BOOST_TEST(log.count("children") == 1, "the list is read once");
  BOOST_TEST(log.count("multi") == 100);
  BOOST_TEST(log.count("get") == 50);
  for (int i = 50; i < 100; ++i) BOOST_TEST(pop(from).data == std::to_string(i));
  BOOST_TEST(log.count("children") == 1);
  BOOST_TEST(status_of(from).items == 9'900u);
  empty();
}

BOOST_AUTO_TEST_CASE(of_two_takers_each_gets_on_with_a_long_queue) {
  fill(400);
  auto a = over(connect());
  auto b = over(logged());
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    auto of_a = a.async_take(recorded());
    auto of_b = b.async_take(recorded());
    BOOST_TEST_REQUIRE(run_until([&] { return of_a.done() && of_b.done(); }));
    for (auto* each : {&of_a, &of_b}) BOOST_TEST(seen.insert(each->result<0>().data).second);
    expect_done(a, of_a.result<0>());
    expect_done(b, of_b.result<0>());
  }
  BOOST_TEST(log.count("multi") < 200, "two requests for each item, and not one for each item of the other, too");
  empty();
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
    auto of_a = a.async_pop(recorded());
    auto of_b = b.async_pop(recorded());
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
  auto popping = from.async_pop(recorded());
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  BOOST_TEST(run_until([&] { return size() == 1; }));
  cluster().expire(far.status().session_id);
  reconnect();
  BOOST_TEST_REQUIRE(ends_with(popping, errc::outcome_unknown));
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
  auto popping = from.async_pop(recorded());
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  cluster().expire(far.status().session_id);
  reconnect();
  BOOST_TEST_REQUIRE(succeeds(popping));
  BOOST_TEST(popping.result<0>().data == "1");
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
}

BOOST_AUTO_TEST_CASE(a_pop_that_waits_can_be_cancelled) {
  auto from = over(zk());
  auto waiting = from.async_pop(recorded());
  settle(zk());
  waiting.cancel();
  BOOST_TEST_REQUIRE(ends_with(waiting, asio::error::operation_aborted));
  put("1");
  BOOST_TEST(drain() == numbers(1, 1));
}

BOOST_AUTO_TEST_SUITE_END()
