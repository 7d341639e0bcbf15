// A producer puts exactly once and in order, whatever happens to the replies; batches.
#include <map>
#include <set>

#include "ensemble/queue_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class producers : public queue_case {
 public:
  /// Puts all items at once, waits for all of them, and checks that their numbers follow each other.
  void put_all(producer& by, const std::vector<std::string>& items) {
    std::vector<recorder<std::uint64_t>> each(items.size(), recorder<std::uint64_t>(executor()));
    for (std::size_t i = 0; i < items.size(); ++i) {
      each[i] = recorder<std::uint64_t>(executor());
      by.async_put(items[i], each[i].token());
    }
    auto is_done = [](const recorder<std::uint64_t>& r) { return r.done(); };
    BOOST_TEST_REQUIRE(run_until([&] { return std::all_of(each.begin(), each.end(), is_done); }));
    for (std::size_t i = 0; i < items.size(); ++i) {
      BOOST_TEST(!each[i].error(), each[i].error().message());
      BOOST_TEST(each[i].result<0>() == each[0].result<0>() + i);
    }
  }
  error_code put_one(producer& by, const std::string& data) { return std::get<0>(run(by.async_put(data, tuple))); }
  /// How many items each transaction has put, in order: the items of one have the same `czxid`.
  std::vector<std::size_t> batches() {
    auto names = children("/q");
    std::erase_if(names, [](const std::string& each) { return !each.starts_with("qn-"); });
    std::map<std::int64_t, std::size_t> sizes;
    for (const auto& each : names) ++sizes[get("/q/" + each).stat.czxid];
    std::vector<std::size_t> all;
    for (const auto& [zxid, items] : sizes) all.push_back(items);
    return all;
  }
  std::uint64_t last(producer& by) { return std::get<1>(run(by.async_last(tuple))); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_producer, producers)

BOOST_AUTO_TEST_CASE(items_are_numbered_and_travel_together) {
  auto zk_of_p = connect();
  auto p = make_producer(zk_of_p, "p");
  put_all(p, numbers(1, 300));
  BOOST_TEST(last(p) == 300u);
  BOOST_TEST(zk_of_p.counters().requests < 20u, "not one request each");
  BOOST_TEST(drain() == numbers(1, 300), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_is_no_larger_than_the_session_sends) {
  auto how = fixture::options();
  how.jute_maxbuffer = 20'000;
  auto narrow = connect(how);
  auto by = make_producer(narrow, "p");
  std::vector<topic_message> many(100, {"", std::string(1'000, 'd')});
  auto put = run(by.async_put_all(std::move(many), tuple));
  BOOST_TEST(!std::get<0>(put), std::get<0>(put).message());
  BOOST_TEST(std::get<1>(put) == 100u);
  BOOST_TEST(batches().size() >= 10u);
  BOOST_TEST(drain().size() == 100u);
}

// All eight are there when the node of the producer has been read.
BOOST_AUTO_TEST_CASE(a_batch_has_as_many_items_as_the_options_say) {
  auto p = make_producer(zk(), "p", {.max_batch = 3});
  put_all(p, numbers(1, 8));
  const std::vector<std::size_t> expected{3, 3, 2};
  BOOST_TEST(batches() == expected, boost::test_tools::per_element());
  BOOST_TEST(drain() == numbers(1, 8), boost::test_tools::per_element());
}

// In a queue with a limit the transaction has their tickets, too.
BOOST_AUTO_TEST_CASE(many_items_travel_in_one_transaction) {
  for (const auto& [limit, most] : {std::pair<std::size_t, int>{0, 1000}, {400, 400}}) {
    queue into(zk(), "/q", {.limit = limit});
    const producer_options how{.max_batch = static_cast<std::size_t>(most), .linger = 60s};
    auto p = make_producer(into, "p" + std::to_string(limit), how);
    put_all(p, numbers(1, most));
    auto [error, all] = run(into.async_take_many(how.max_batch, tuple));
    BOOST_TEST(!error, error.message());
    BOOST_TEST_REQUIRE(all.size() == how.max_batch);
    for (const auto& each : all) {
      BOOST_TEST(each.stat.czxid == all[0].stat.czxid);
      expect_done(into, each);
    }
  }
}

BOOST_AUTO_TEST_CASE(items_that_linger_are_put_in_one_transaction_when_the_batch_is_full) {
  auto p = make_producer(connect(), "p", {.max_batch = 3, .linger = 60s});
  std::vector<recorder<std::uint64_t>> each(3, recorder<std::uint64_t>(executor()));
  for (std::size_t i = 0; i < each.size(); ++i) {
    BOOST_TEST(!exists("/q"), "nothing was sent yet");
    each[i] = recorder<std::uint64_t>(executor());
    p.async_put(std::to_string(i + 1), each[i].token());
  }
  BOOST_TEST_REQUIRE(run_until([&] { return each[2].done(); }));
  for (auto& put : each) BOOST_TEST((put.done() && !put.error()));
  const std::vector<std::size_t> expected{3};
  BOOST_TEST(batches() == expected, boost::test_tools::per_element());
  BOOST_TEST(drain() == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(items_that_linger_are_put_when_the_first_one_is_due) {
  auto p = make_producer(connect(), "p", {.linger = 100ms});
  put_all(p, numbers(1, 3));
  const std::vector<std::size_t> expected{3};
  BOOST_TEST(batches() == expected, boost::test_tools::per_element());
  BOOST_TEST(drain() == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(items_that_linger_end_with_their_session) {
  create("/q");
  auto brief = connect();
  auto p = producer(over(brief), "p", {.linger = 60s});
  recorder<std::uint64_t> put(executor());
  p.async_put("never put", put.token());
  settle(brief);
  BOOST_TEST(!put.done());
  BOOST_TEST(!std::get<0>(run(brief.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return put.done(); }, 20s), "before its batch would have been sent");
  BOOST_TEST(put.error() == errc::closed);
  BOOST_TEST(children("/q").empty());
}

BOOST_AUTO_TEST_CASE(large_items_travel_in_several_batches) {
  auto p = make_producer(zk(), "p");
  std::vector<std::string> items;
  for (int i = 0; i < 12; ++i) items.push_back(std::string(200'000, static_cast<char>('a' + i)));
  put_all(p, items);
  BOOST_TEST((drain() == items));
}

BOOST_AUTO_TEST_CASE(every_lost_reply_is_settled) {
  auto far = connect_far();
  for (int k = 1; k <= 5; ++k) {
    auto p = make_producer(far, "p" + std::to_string(k));
    own().drop_reply(testcluster::op::multi, k);
    put_all(p, numbers(1, 300));
    for (const auto& each : numbers(301, 304)) BOOST_TEST(!put_one(p, each));
    BOOST_TEST(own().drops() == static_cast<std::size_t>(k));
    BOOST_TEST(drain() == numbers(1, 304), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(every_lost_request_is_sent_again) {
  auto far = connect_far();
  for (int k = 1; k <= 5; ++k) {
    auto p = make_producer(far, "p" + std::to_string(k));
    own().drop_request(testcluster::op::multi, k);
    put_all(p, numbers(1, 300));
    for (const auto& each : numbers(301, 304)) BOOST_TEST(!put_one(p, each));
    BOOST_TEST(own().drops() == static_cast<std::size_t>(k));
    BOOST_TEST(drain() == numbers(1, 304), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_session_that_ends_in_between_changes_nothing) {
  auto mortal = connect();
  auto p = make_producer(mortal, "p");
  BOOST_TEST(!put_one(p, "1"));
  cluster().expire(mortal.status().session_id);
  BOOST_TEST(!put_one(p, "2"));
  BOOST_TEST(mortal.status().incarnation == 2u);
  BOOST_TEST(drain() == numbers(1, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_next_run_continues_the_numbers) {
  {
    auto p = make_producer(connect(), "p");
    BOOST_TEST(last(p) == 0u);
    put_all(p, numbers(1, 3));
  }
  auto p = make_producer(connect(), "p");
  BOOST_TEST(last(p) == 3u);
  auto [error, number] = run(p.async_put("4", tuple));
  BOOST_TEST(!error, error.message());
  BOOST_TEST(number == 4u);
  auto other = make_producer(connect(), "other");
  BOOST_TEST(last(other) == 0u);
  BOOST_TEST(drain() == numbers(1, 4), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(of_two_with_one_name_the_one_that_comes_too_late_is_told) {
  auto a = make_producer(connect(), "p");
  auto b = make_producer(connect(), "p");
  BOOST_TEST(!put_one(a, "1"));
  BOOST_TEST(!put_one(b, "2"));
  BOOST_TEST(put_one(a, "never put") == errc::superseded);
  const std::vector<std::string> expected{"1", "2"};
  BOOST_TEST(drain() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(even_if_a_reply_was_lost_in_the_same_moment) {
  auto far = connect_far();
  auto a = make_producer(far, "p");
  auto b = make_producer(connect(), "p");
  BOOST_TEST(!put_one(a, "1"));
  own().drop_request(testcluster::op::multi);
  own().refuse(true);
  recorder<std::uint64_t> lost(executor());
  a.async_put("never put", lost.token());
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  BOOST_TEST(!put_one(b, "2"));
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return lost.done(); }));
  BOOST_TEST(lost.error() == errc::superseded);
  BOOST_TEST(drain() == numbers(1, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_cancelled_put_is_put_all_the_same) {
  auto p = make_producer(zk(), "p");
  BOOST_TEST(last(p) == 0u, "connected: without a connection the item is forgotten instead");
  recorder<std::uint64_t> first(executor());
  p.async_put("1", first.token());
  first.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return first.done(); }));
  BOOST_TEST(!put_one(p, "2"));
  BOOST_TEST(drain() == numbers(1, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_record_that_is_not_ours_is_left_alone) {
  create("/q");
  auto p = make_producer(zk(), "p");
  create("/q/_producer-p", "seventeen");
  BOOST_TEST(put_one(p, "1") == errc::foreign_data);
  BOOST_TEST(get("/q/_producer-p").data == "seventeen");
  BOOST_TEST(size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_name_must_be_one_part_of_a_path) {
  BOOST_CHECK_THROW(producer(over(zk()), ""), std::invalid_argument);
  BOOST_CHECK_THROW(producer(over(zk()), "a/b"), std::invalid_argument);
  create("/q");
}

BOOST_AUTO_TEST_CASE(a_queue_that_was_removed_is_made_again) {
  auto p = make_producer(connect(), "p");
  for (auto each : {"1", "2"}) BOOST_TEST(!put_one(p, each));
  for (const auto& each : children("/q")) remove("/q/" + each);
  remove("/q");
  auto [error, number] = run(p.async_put("3", tuple));
  BOOST_TEST(!error, error.message());
  BOOST_TEST(number == 1u, "as its record is new, too");
  const std::vector<std::string> expected{"3"};
  BOOST_TEST(drain() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

// Several items in one put or take, and long queues.

namespace {

class batches : public queue_case {
 public:
  session logged() {
    auto made = connect(log.noted(options()));
    settle(made);
    log.clear();
    return made;
  }
  void fill(int items) {
    auto into = over(zk());
    for (int from = 0; from < items; from += 1000) {
      std::vector<std::string> some;
      for (int i = from; i < std::min(items, from + 1000); ++i) some.push_back(std::to_string(i));
      must(run(into.async_put_many(std::move(some), tuple)));
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
  auto far = connect_far(log.noted(far_options()));
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
  recorder<std::vector<message>> taking(executor());
  from.async_take_many(10, taking.token());
  const auto before = far.counters().requests;
  BOOST_TEST_REQUIRE(run_until([&] { return far.counters().requests > before; }));
  taking.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return taking.done(); }));
  BOOST_TEST(taking.error() == asio::error::operation_aborted);
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
    recorder<message> of_a(executor());
    recorder<message> of_b(executor());
    a.async_take(of_a.token());
    b.async_take(of_b.token());
    BOOST_TEST_REQUIRE(run_until([&] { return of_a.done() && of_b.done(); }));
    for (auto* each : {&of_a, &of_b}) BOOST_TEST(seen.insert(each->result<0>().data).second);
    expect_done(a, of_a.result<0>());
    expect_done(b, of_b.result<0>());
  }
  BOOST_TEST(log.count("multi") < 200, "two requests for each item, and not one for each item of the other, too");
  empty();
}

BOOST_AUTO_TEST_SUITE_END()
