// Several items in one put or take, and long queues.
#include <set>

#include "ensemble/queue_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class batches : public queue_case {
 public:
  session logged() {
    auto with = options();
    with.trace = log.hook();
    auto made = connect(with);
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
