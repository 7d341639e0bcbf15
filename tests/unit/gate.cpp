// Which callers get in at a gate, which wait, and which are declined.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include "unit/entering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(gates, entering)

BOOST_AUTO_TEST_CASE(a_key_that_nobody_processes_is_entered_at_once) {
  auto g = make_gate();
  auto one = begin(g, "k");
  BOOST_TEST(!one.done(), "inside the call");
  settle();
  BOOST_TEST(is_in(one));
  leave(one);
  BOOST_TEST(is_evicted(one));
  BOOST_TEST(g.statistics().active == 0u);
  auto two = enter(g, "k");
  BOOST_TEST(is_in(two));
}

BOOST_AUTO_TEST_CASE(one_more_waits_and_begins_when_the_first_leaves) {
  auto g = make_gate();
  auto first = enter(g, "k");
  auto second = enter(g, "k");
  BOOST_TEST(!second.done());
  BOOST_TEST(g.statistics().waiting == 1u);
  first.result<0>().leave();
  BOOST_TEST(!second.done(), "inside of leave");
  settle();
  BOOST_TEST(is_in(second));
  BOOST_TEST(!first.result<0>().valid());
}

BOOST_AUTO_TEST_CASE(the_newest_is_declined_and_those_that_came_before_keep_their_order) {
  auto g = make_gate();
  auto first = enter(g, "k");
  auto second = enter(g, "k");
  auto third = begin(g, "k");
  BOOST_TEST(!third.done(), "inside the call");
  settle();
  BOOST_TEST(is_declined(third));
  BOOST_TEST(!second.done());
  leave(first);
  BOOST_TEST(is_in(second));
  auto fourth = enter(g, "k");
  BOOST_TEST(!fourth.done());
  leave(second);
  BOOST_TEST(is_in(fourth));
}

BOOST_AUTO_TEST_CASE(with_keep_newest_the_one_that_waits_is_declined) {
  auto g = make_gate({.keep = keep::newest});
  auto first = enter(g, "k");
  auto second = enter(g, "k");
  auto third = enter(g, "k");
  BOOST_TEST(is_declined(second));
  BOOST_TEST(!third.done());
  leave(first);
  BOOST_TEST(is_in(third));
  BOOST_TEST(second.calls() == 1);
}

BOOST_AUTO_TEST_CASE(after_a_decline_a_later_processing_begins_and_sees_what_was_written_before) {
  auto g = make_gate();
  std::string data = "old";
  std::string seen;
  auto first = enter(g, "k");
  auto second = begin(g, "k");
  second.on_completion([&] { seen = data; });
  settle();
  data = "new";
  auto third = enter(g, "k");
  BOOST_TEST(is_declined(third));
  leave(first);
  BOOST_TEST(seen == "new");
}

BOOST_AUTO_TEST_CASE(what_is_asked_without_waiting_gets_in_only_where_nobody_is) {
  auto g = make_gate();
  auto held = g.try_enter("k");
  BOOST_TEST_REQUIRE(held.has_value());
  BOOST_TEST(held->valid());
  BOOST_TEST(!g.try_enter("k").has_value());
  auto waiter = enter(g, "k");
  BOOST_TEST(!g.try_enter("k").has_value());
  held.reset();
  settle();
  BOOST_TEST(is_in(waiter));
  BOOST_TEST(g.statistics().declined == 0u);
}

BOOST_AUTO_TEST_CASE(ten_thousand_keys_do_not_hold_each_other_up) {
  constexpr std::size_t so_many = 10'000;
  auto g = make_gate();
  std::vector<gate_pass> passes;
  std::vector<entrant> waiters;
  for (std::size_t i = 0; i < so_many; ++i) {
    auto pass = g.try_enter("key-" + std::to_string(i));
    BOOST_TEST_REQUIRE(pass.has_value());
    passes.push_back(std::move(*pass));
    waiters.push_back(begin(g, "key-" + std::to_string(i)));
  }
  settle();
  BOOST_TEST(g.statistics().active == so_many);
  BOOST_TEST(g.statistics().waiting == so_many);
  BOOST_TEST(timers() == 1u);
  passes.clear();
  settle();
  BOOST_TEST(std::all_of(waiters.begin(), waiters.end(), [](auto& each) { return is_in(each); }));
  waiters.clear();
  settle();
  BOOST_TEST(g.statistics().active == 0u);
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(the_statistics_count_what_was_answered) {
  auto g = make_gate({.safety = 10s});
  auto first = enter(g, "k");
  auto second = enter(g, "k");
  auto third = enter(g, "k");
  auto other = enter(g, "l");
  auto seen = g.statistics();
  BOOST_TEST(seen.accepted == 2u);
  BOOST_TEST(seen.waited == 1u);
  BOOST_TEST(seen.declined == 1u);
  BOOST_TEST(seen.evicted == 0u);
  BOOST_TEST(seen.active == 2u);
  BOOST_TEST(seen.waiting == 1u);
  advance(10s);
  seen = g.statistics();
  BOOST_TEST(seen.accepted == 3u);
  BOOST_TEST(seen.evicted == 1u);
  BOOST_TEST(seen.active == 2u);
  BOOST_TEST(seen.waiting == 0u);
}

BOOST_AUTO_TEST_CASE(a_pass_is_moved_and_leaves_what_it_held) {
  auto g = make_gate();
  gate_pass one = std::move(*g.try_enter("k"));
  gate_pass two = std::move(one);
  BOOST_TEST(!one.valid());
  BOOST_TEST(two.valid());
  two = std::move(*g.try_enter("l"));
  BOOST_TEST(two.valid());
  BOOST_TEST(g.try_enter("k").has_value());
  auto& same = two;
  two = std::move(same);
  BOOST_TEST(two.valid());
  two.leave();
  two.leave();
  BOOST_TEST(!two.valid());
  BOOST_TEST(!gate_pass().valid());
  BOOST_TEST(g.statistics().active == 0u);
}

BOOST_AUTO_TEST_CASE(a_gate_of_nothing_lets_nobody_in) {
  gate none;
  auto moved = make_gate();
  auto target = std::move(moved);
  for (auto* each : {&none, &moved}) {
    auto answer = enter(*each, "k");
    BOOST_TEST_REQUIRE(answer.done());
    BOOST_TEST((answer.error() == errc::closed));
    BOOST_TEST(!each->try_enter("k").has_value());
    BOOST_TEST(each->statistics().accepted == 0u);
    BOOST_TEST(!each->get_executor());
    BOOST_TEST((each->options().keep == keep::first));
  }
  BOOST_TEST(target.try_enter("k").has_value());
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
  BOOST_CHECK_EXCEPTION(gate(io(), {.safety = 0s}), std::invalid_argument, [](const auto& error) {
    return std::string(error.what()).find("safety") != std::string::npos;
  });
  BOOST_CHECK_THROW(gate(asio::any_io_executor()), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_coroutine_waits_and_an_operation_may_begin_after_its_gate_has_gone) {
  std::string order;
  auto g = std::make_unique<gate>(io(), gate_options{.safety = 1h});
  auto later = g->async_enter("k");
  auto body = [&](std::string name) -> asio::awaitable<void> {
    auto pass = co_await g->async_enter("k");
    order += name;
    co_await asio::post(asio::use_awaitable);
    order += name;
  };
  for (const auto* each : {"a", "b"}) asio::co_spawn(io(), body(each), asio::detached);
  settle();
  BOOST_TEST(order == "aabb");
  g.reset();
  auto pass = std::move(later)(asio::use_future);
  settle();
  BOOST_TEST(pass.get().valid());
}

BOOST_AUTO_TEST_SUITE_END()
