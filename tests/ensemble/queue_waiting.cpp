// Takers that wait stand in line, and a put wakes only the first of them.
#include <deque>

#include "ensemble/queue_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A taker with a session of its own, and the take that it has begun.
struct taker {
  explicit taker(session over) : zk(over), from(over, "/q"), taken(over.get_executor()) { ask(); }
  void ask() {
    taken = recorder<message>(zk.get_executor());
    from.async_take(taken.token());
  }

  session zk;
  queue from;
  recorder<message> taken;
};

class waiting : public queue_case {
 public:
  void teardown() {
    for (auto& each : all) {
      if (!each.taken.done()) each.taken.cancel();
    }
    BOOST_TEST(run_until([&] { return std::all_of(all.begin(), all.end(), [](taker& t) { return t.taken.done(); }); }));
    all.clear();
    BOOST_TEST(run_until([&] { return idle() == 0; }, 10s), "nobody stands in line any more");
    queue_case::teardown();
  }
  /// Adds a taker behind all others.
  taker& add(session over) {
    const auto before = idle();
    auto& made = all.emplace_back(std::move(over));
    BOOST_TEST_REQUIRE(run_until([&] { return idle() == before + 1; }));
    quieten();
    return made;
  }
  std::size_t idle() { return exists("/q/_idle") ? children("/q/_idle").size() : 0; }
  /// An operator removes the queue and its line in one transaction. False: somebody came or went meanwhile.
  bool wipe() {
    transaction all;
    for (const auto& each : children("/q/_idle")) all.remove("/q/_idle/" + each);
    all.remove("/q/_idle").remove("/q");
    return !std::get<0>(run(zk().async_commit(all, tuple)));
  }
  /// Waits until everything that was on its way to the takers has arrived.
  void quieten() {
    for (int i = 0; i < 3; ++i) {
      for (auto& each : all) settle(each.zk);
    }
  }

  std::deque<taker> all;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_waiting, waiting)

BOOST_AUTO_TEST_CASE(a_put_wakes_one_of_many_and_the_next_moves_up) {
  constexpr std::size_t takers = 8;
  for (std::size_t i = 0; i < takers; ++i) add(connect());
  std::vector<std::uint64_t> before;
  for (auto& each : all) before.push_back(each.zk.counters().watch_events);
  put("1");
  BOOST_TEST_REQUIRE(run_until([&] { return all[0].taken.done(); }), "the one that has waited longest");
  quieten();
  BOOST_TEST(all[1].zk.counters().watch_events - before[1] >= 1u, "the next has moved up");
  BOOST_TEST(all[1].zk.counters().watch_events - before[1] <= 2u);
  for (std::size_t i = 2; i < takers; ++i) {
    BOOST_TEST(all[i].zk.counters().watch_events == before[i], "number " << i << " is left in peace");
  }
  expect_done(all[0].from, all[0].taken.result<0>());
}

BOOST_AUTO_TEST_CASE(they_are_served_in_the_order_in_which_they_came) {
  for (int i = 0; i < 4; ++i) add(connect());
  for (std::size_t i = 0; i < all.size(); ++i) {
    put(std::to_string(i));
    BOOST_TEST_REQUIRE(run_until([&] { return all[i].taken.done(); }));
    BOOST_TEST(all[i].taken.result<0>().data == std::to_string(i));
    expect_done(all[i].from, all[i].taken.result<0>());
  }
}

BOOST_AUTO_TEST_CASE(many_items_at_once_are_for_many_takers) {
  for (int i = 0; i < 5; ++i) add(connect());
  auto made = run(over(zk()).async_put_many(numbers(1, 5), tuple));
  BOOST_TEST(!std::get<0>(made));
  BOOST_TEST_REQUIRE(
      run_until([&] { return std::all_of(all.begin(), all.end(), [](taker& t) { return t.taken.done(); }); }));
  std::vector<std::string> seen;
  for (auto& each : all) {
    seen.push_back(each.taken.result<0>().data);
    expect_done(each.from, each.taken.result<0>());
  }
  std::sort(seen.begin(), seen.end());
  BOOST_TEST(seen == numbers(1, 5), boost::test_tools::per_element());
}

// The first in line calls as many of the others as there are items left, and tells each of them its item.
BOOST_AUTO_TEST_CASE(items_put_at_once_are_on_their_way_to_all_at_once) {
  constexpr int takers = 6;
  request_log log;
  const auto with = log.noted(options());
  for (int i = 0; i < takers; ++i) add(connect(with));
  log.clear();
  auto made = run(over(zk()).async_put_many(numbers(1, takers), tuple));
  BOOST_TEST(!std::get<0>(made));
  BOOST_TEST_REQUIRE(
      run_until([&] { return std::all_of(all.begin(), all.end(), [](taker& t) { return t.taken.done(); }); }));
  BOOST_TEST(log.count("set") == takers - 1, "each of the others is called, once");
  for (std::size_t i = 0; i < all.size(); ++i) {
    BOOST_TEST(all[i].taken.result<0>().data == std::to_string(i + 1), "in the order in which they came");
    BOOST_TEST(all[i].taken.result<0>().attempts == 1);
    expect_done(all[i].from, all[i].taken.result<0>());
  }
}

// While items are put, claimed and acknowledged all the time, a waiting taker lists them now and then, not at each
// change.
BOOST_AUTO_TEST_CASE(who_waits_beside_many_claimed_items_does_not_list_them_at_each_change) {
  constexpr int items = 500;
  auto from = over(zk());
  auto made = run(from.async_put_many(numbers(1, items), tuple));
  BOOST_TEST(!std::get<0>(made));
  const auto claimed = std::get<1>(run(from.async_take_many(items, tuple)));
  BOOST_TEST_REQUIRE(claimed.size() == std::size_t(items));
  request_log log;
  add(connect(log.noted(options())));
  log.clear();
  const auto begun = std::chrono::steady_clock::now();
  for (const auto& each : claimed) expect_done(from, each);
  const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  settle(all[0].zk);
  const auto names = static_cast<double>(items);  // in a list, on average: half of the items, and as many claims
  BOOST_TEST(static_cast<double>(log.count("children")) <= 10 + 4 * took * 50'000 / names);
  BOOST_TEST(log.count("children") <= items / 2);
  all[0].taken.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return all[0].taken.done(); }));
}

BOOST_AUTO_TEST_CASE(when_the_first_dies_the_next_takes_over) {
  auto& first = add(connect());
  auto& second = add(connect());
  cluster().expire(first.zk.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return first.zk.status().incarnation == 2; }));
  BOOST_TEST_REQUIRE(run_until([&] { return idle() == 2; }), "it has lined up again, behind the other");
  put("1");
  BOOST_TEST_REQUIRE(run_until([&] { return second.taken.done(); }));
  BOOST_TEST(!first.taken.done());
  expect_done(second.from, second.taken.result<0>());
}

BOOST_AUTO_TEST_CASE(who_gives_up_leaves_the_line) {
  auto& first = add(connect());
  auto& second = add(connect());
  first.taken.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return first.taken.done(); }));
  BOOST_TEST(run_until([&] { return idle() == 1; }, 10s));
  put("1");
  BOOST_TEST_REQUIRE(run_until([&] { return second.taken.done(); }));
  expect_done(second.from, second.taken.result<0>());
}

BOOST_AUTO_TEST_CASE(an_item_given_back_is_for_who_waits) {
  put("1");
  auto from = over(zk());
  const auto item = take(from);
  auto& other = add(connect());
  BOOST_TEST(!give_back(from, item));
  BOOST_TEST_REQUIRE(run_until([&] { return other.taken.done(); }));
  BOOST_TEST(other.taken.result<0>().attempts == 2);
  expect_done(other.from, other.taken.result<0>());
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_keeps_its_place) {
  auto& first = add(connect_far());
  add(connect());
  disconnect(first.zk);
  put("1");
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return first.taken.done(); }));
  BOOST_TEST(first.zk.status().incarnation == 1u);
  expect_done(first.from, first.taken.result<0>());
}

BOOST_AUTO_TEST_CASE(a_queue_wiped_out_under_those_that_wait_goes_on) {
  auto& first = add(connect());
  auto& second = add(connect());
  const auto made_before = get("/q").stat.czxid;
  BOOST_TEST_REQUIRE(run_until([&] { return wipe(); }));
  const auto is_anew = [&] { return exists("/q") && get("/q").stat.czxid > made_before; };
  BOOST_TEST_REQUIRE(run_until([&] { return is_anew() && idle() == 2; }), "both stand in a new line");
  put("1");
  put("2");
  BOOST_TEST_REQUIRE(run_until([&] { return first.taken.done() && second.taken.done(); }));
  expect_done(first.from, first.taken.result<0>());
  expect_done(second.from, second.taken.result<0>());
}

BOOST_AUTO_TEST_SUITE_END()
