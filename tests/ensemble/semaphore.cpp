// The semaphore: which members fit, which wait, and what is written about them.
#include <deque>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/semaphore.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct semaphore_case : ensemble_case {
  semaphore_case() : over(std::make_unique<session>(connect())), three(std::in_place, *over, "/s", 3) {}
  void teardown() {
    three.reset();
    over.reset();
    ensemble_case::teardown();
  }

  ownership take(std::int32_t permits) { return must(run(three->async_acquire(permits, tuple))); }
  /// Gets in line behind those that are there.
  recorder<ownership> waits(std::int32_t permits) { return waits(*three, permits); }
  recorder<ownership> waits(semaphore& which, std::int32_t permits) {
    const auto before = children("/s");
    auto waiting = recorder<ownership>(executor());
    which.async_acquire(permits, waiting.token());
    // The number of nodes does not tell, because the node of an acquisition that was given up may still be removed.
    const auto is_new = [&](const std::string& each) { return std::ranges::find(before, each) == before.end(); };
    BOOST_TEST_REQUIRE(run_until([&] { return std::ranges::any_of(children("/s"), is_new); }));
    return waiting;
  }
  void gets_it(recorder<ownership>& waiting) {
    BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
    BOOST_TEST(!waiting.error(), waiting.error().message());
  }
  void release(ownership held) { BOOST_TEST(!std::get<0>(run(held.async_release(tuple)))); }
  semaphore_state state() {
    catch_up(*over);
    auto [error, seen] = run(three->async_state(tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return seen;
  }
  error_code resize(std::int32_t size) { return std::get<0>(run(three->async_resize(size, tuple))); }
  void finish() {
    BOOST_TEST(run_until([&] { return children("/s").empty(); }));
    remove("/s");
  }
  /// Waits for one round trip: if others had been told of their turn, they would know by then.
  void settle() { catch_up(*over); }

  std::unique_ptr<session> over;
  std::optional<semaphore> three;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(semaphores, semaphore_case)

BOOST_AUTO_TEST_CASE(as_many_hold_as_fit) {
  auto one = take(1);
  auto two = take(2);
  BOOST_TEST(two.token() > one.token());
  auto waiting = waits(1);
  settle();
  BOOST_TEST(!waiting.done());
  auto now = state();
  BOOST_TEST(now.size == 3);
  BOOST_TEST(now.taken == 3);
  BOOST_TEST(now.holders == 2u);
  BOOST_TEST(now.waiting == 1u);
  release(std::move(one));
  gets_it(waiting);
  release(std::move(two));
  release(std::move(waiting.result<0>()));
  BOOST_TEST(state().taken == 0);
  finish();
}

BOOST_AUTO_TEST_CASE(who_asks_for_many_is_not_overtaken_by_those_who_ask_for_few) {
  auto one = take(1);
  auto other = take(1);
  auto large = waits(3);
  auto late = waits(1);
  release(std::move(one));
  settle();
  BOOST_TEST(!large.done());
  BOOST_TEST(!late.done(), "there would be room for it");
  release(std::move(other));
  gets_it(large);
  settle();
  BOOST_TEST(!late.done());
  release(std::move(large.result<0>()));
  gets_it(late);
  release(std::move(late.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(permits_freed_together_let_in_all_who_fit) {
  auto all = take(3);
  std::deque<recorder<ownership>> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(waits(1));
  auto last = waits(1);
  release(std::move(all));
  for (auto& each : waiting) gets_it(each);
  settle();
  BOOST_TEST(!last.done());
  release(std::move(waiting[1].result<0>()));  // a release by any of the three makes room
  gets_it(last);
  release(std::move(waiting[0].result<0>()));
  release(std::move(waiting[2].result<0>()));
  release(std::move(last.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(a_release_wakes_one) {
  std::deque<session> sessions;
  std::deque<request_log> logs(6);
  std::deque<semaphore> each;
  std::deque<recorder<ownership>> waiting;
  auto one = take(2);
  auto other = take(1);
  for (auto& log : logs) {
    sessions.push_back(connect(log.noted(options())));
    each.emplace_back(sessions.back(), "/s", 3);
    waiting.push_back(waits(each.back(), 1));
  }
  for (auto& each_session : sessions) catch_up(each_session);
  for (auto& log : logs) log.clear();
  release(std::move(other));
  gets_it(waiting[0]);
  for (auto& each_session : sessions) catch_up(each_session);
  BOOST_TEST(logs[0].count("set") == 1u, "it says that it has been let in");
  for (std::size_t i = 2; i < logs.size(); ++i) BOOST_TEST(logs[i].count("get") + logs[i].count("children") == 0u, i);
  release(std::move(one));
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    gets_it(waiting[i]);
    release(std::move(waiting[i].result<0>()));
  }
  each.clear();
  sessions.clear();
  finish();
}

BOOST_AUTO_TEST_CASE(a_try_takes_what_is_free_and_writes_nothing_if_it_is_not) {
  request_log log;
  session third = connect(log.noted(options()));
  semaphore theirs(third, "/s", 3);
  auto free = must(run(theirs.async_try_acquire(2, tuple)));
  auto held = take(1);
  catch_up(third);
  log.clear();
  BOOST_TEST(std::get<0>(run(theirs.async_try_acquire(1, tuple))) == errc::busy);
  BOOST_TEST(log.count("create") == 0u);
  BOOST_TEST(log.count("children") == 1u);
  release(std::move(free));
  release(std::move(held));
  finish();
}

BOOST_AUTO_TEST_CASE(another_size_is_refused_and_both_are_named) {
  auto held = take(1);
  semaphore five(*over, "/s", 5);
  catch_up(*over);
  const diagnostic why;
  BOOST_TEST(std::get<0>(run(five.async_acquire(1, why, tuple))) == errc::size_mismatch);
  BOOST_TEST(why.text().find("/s: it has 3 permits") != std::string::npos, why.text());
  BOOST_TEST(why.text().find("size of 5") != std::string::npos, why.text());
  BOOST_TEST(std::get<0>(run(five.async_try_acquire(1, tuple))) == errc::size_mismatch);
  BOOST_TEST(run_until([&] { return children("/s").size() == 1; }));
  release(std::move(held));
  finish();
}

BOOST_AUTO_TEST_CASE(more_permits_let_waiters_in_and_old_objects_go_on) {
  auto all = take(3);
  auto waiting = waits(1);
  auto next = waits(2);
  BOOST_TEST(!resize(6));
  gets_it(waiting);
  gets_it(next);
  BOOST_TEST(state().size == 6);
  release(std::move(waiting.result<0>()));
  auto again = take(1);  // this object was made with a size of 3
  release(std::move(again));
  release(std::move(all));
  release(std::move(next.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(fewer_permits_take_nothing_and_let_nobody_in) {
  auto one = take(1);
  auto two = take(1);
  auto three_of_them = take(1);
  BOOST_TEST(!resize(2));
  BOOST_TEST(!one.error());
  auto waiting = waits(1);
  release(std::move(two));
  settle();
  BOOST_TEST(!waiting.done());
  release(std::move(one));
  gets_it(waiting);  // although the holder ahead of it in line stays
  BOOST_TEST(!three_of_them.error());
  release(std::move(three_of_them));
  release(std::move(waiting.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(objects_in_use_go_on_through_any_number_of_resizes) {
  semaphore other(*over, "/s", 3);
  semaphore fresh(*over, "/s", 3);
  release(take(1));
  auto used = must(run(other.async_acquire(tuple)));
  for (std::int32_t size : {5, 2, 4}) {
    BOOST_TEST(!resize(size));
    catch_up(*over);
    release(take(1));
  }
  release(std::move(used));
  const diagnostic why;
  auto again = run(other.async_try_acquire(4, why, tuple));
  BOOST_TEST(!std::get<0>(again), why.text());
  BOOST_TEST(why.text() == "");
  release(std::move(std::get<1>(again)));
  BOOST_TEST(std::get<0>(run(fresh.async_acquire(tuple))) == errc::size_mismatch, "it was never in use");
  BOOST_TEST(!std::get<0>(run(fresh.async_resize(6, tuple))));
  BOOST_TEST(!std::get<0>(run(fresh.async_resize(5, tuple))));
  auto own = run(fresh.async_acquire(tuple));
  BOOST_TEST(!std::get<0>(own), "it has resized it itself");
  release(std::move(std::get<1>(own)));
  finish();
}

BOOST_AUTO_TEST_CASE(who_asks_for_more_than_there_is_hears_it) {
  BOOST_TEST(std::get<0>(run(three->async_acquire(4, tuple))) == errc::bad_arguments);
  auto held = take(3);
  auto hopeless = waits(3);
  BOOST_TEST(!resize(2));
  BOOST_TEST(run_until([&] { return hopeless.done(); }));
  BOOST_TEST(hopeless.error() == errc::bad_arguments);
  release(std::move(held));
  finish();
  BOOST_CHECK_THROW(three->async_acquire(0, [](error_code, ownership) {}), std::invalid_argument);
  BOOST_CHECK_THROW(three->async_acquire(-1, [](error_code, ownership) {}), std::invalid_argument);
  BOOST_CHECK_THROW(semaphore(*over, "/s", 0), std::invalid_argument);
  BOOST_CHECK_THROW(semaphore(*over, "/s/", 1), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_budget_and_a_cancellation_leave_nothing_behind) {
  auto held = take(3);
  auto late = run(three->async_acquire_for(1, 200ms, tuple));
  BOOST_TEST(std::get<0>(late) == errc::timed_out);
  BOOST_TEST(run_until([&] { return children("/s").size() == 1; }), "its node goes in the background");
  auto waiting = waits(1);
  waiting.cancel();
  BOOST_TEST(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.error() == asio::error::operation_aborted);
  BOOST_TEST(run_until([&] { return children("/s").size() == 1; }));
  release(std::move(held));
  finish();
}

BOOST_AUTO_TEST_CASE(a_path_of_somebody_else_is_refused) {
  create("/s", "theirs");
  catch_up(*over);
  const diagnostic acquiring;
  BOOST_TEST(std::get<0>(run(three->async_acquire_for(1, 10s, acquiring, tuple))) == errc::foreign_data);
  const diagnostic trying;
  BOOST_TEST(std::get<0>(run(three->async_try_acquire(1, trying, tuple))) == errc::foreign_data);
  const diagnostic asking;
  BOOST_TEST(std::get<0>(run(three->async_state(asking, tuple))) == errc::foreign_data);
  const diagnostic resizing;
  BOOST_TEST(std::get<0>(run(three->async_resize(2, resizing, tuple))) == errc::foreign_data);
  const diagnostic listing;
  BOOST_TEST(std::get<0>(run(three->async_members(listing, tuple))) == errc::foreign_data);
  for (const auto* each : {&acquiring, &trying, &asking, &resizing, &listing}) {
    BOOST_TEST(each->text().find("/s") != std::string::npos, each->text());
  }
  BOOST_TEST(resize(2) == errc::foreign_data);
  finish();
}

BOOST_AUTO_TEST_CASE(who_holds_and_who_waits_is_listed_and_foreign_nodes_are_not) {
  create("/s");
  create("/s/foreign");
  create("/s/_c_nobody-permit-0000000099");
  auto held = take(3);
  auto waiting = recorder<ownership>(executor());
  three->async_acquire(1, waiting.token());
  BOOST_TEST(run_until([&] { return children("/s").size() == 4; }));
  catch_up(*over);
  auto [error, members] = run(three->async_members(tuple));
  BOOST_TEST_REQUIRE(!error, error.message());
  BOOST_TEST_REQUIRE(members.size() == 3u);
  BOOST_TEST(members[0].holds);
  BOOST_TEST(members[0].token == held.token());
  BOOST_TEST(!members[1].holds);
  release(std::move(held));
  gets_it(waiting);
  release(std::move(waiting.result<0>()));
  remove("/s/foreign");
  remove("/s/_c_nobody-permit-0000000099");
  finish();
}

// Holders from before a shrink must be told apart from waiters, even if the reply to the resizer's write is lost.
BOOST_AUTO_TEST_CASE(a_shrink_whose_reply_is_lost_leaves_nobody_waiting_in_vain) {
  auto far = connect_far();
  auto one = take(1);
  auto two = take(1);
  auto third = take(1);
  auto waiting = waits(1);
  semaphore there(far, "/s", 3);
  own().drop_reply(testcluster::op::set_data);
  BOOST_TEST(!std::get<0>(run(there.async_resize(2, tuple))));
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(get("/s").data.find("shrunk_from") == std::string::npos, "all is settled");
  release(std::move(one));
  settle();
  BOOST_TEST(!waiting.done());
  release(std::move(two));
  gets_it(waiting);
  release(std::move(third));
  waiting.result<0>() = ownership();
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
