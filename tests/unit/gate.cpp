// Which callers get in at a gate, which wait, and which are declined.
#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>

#include "support/recorded.hpp"
#include "unit/gate_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
    BOOST_TEST_REQUIRE(ended_with(answer, errc::closed));
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

// Callers of a gate that are cancelled, and ends of the gate and of its context.
BOOST_FIXTURE_TEST_SUITE(gate_endings, entering)

BOOST_AUTO_TEST_CASE(every_type_of_cancellation_ends_the_wait) {
  using asio::cancellation_type;
  auto g = make_gate();
  auto first = enter(g, "k");
  for (auto type : {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
    auto waiter = enter(g, "k");
    BOOST_TEST(!waiter.done());
    waiter.cancel(type);
    BOOST_TEST(!waiter.done(), "inside of emit");
    settle();
    BOOST_TEST(is_cancelled(waiter));
    BOOST_TEST(g.statistics().waiting == 0u);
  }
  auto last = enter(g, "k");
  leave(first);
  BOOST_TEST(is_in(last));
}

BOOST_AUTO_TEST_CASE(a_cancellation_that_comes_too_late_changes_nothing) {
  auto g = make_gate({.keep = keep::newest});
  auto first = enter(g, "k");
  first.cancel();
  auto second = enter(g, "k");
  auto third = begin(g, "k");
  second.cancel();  // it is declined, and not told yet
  settle();
  BOOST_TEST(is_declined(second));
  first.result<0>().leave();
  third.cancel();  // it has got in, and was not told yet
  settle();
  BOOST_TEST(is_in(third));
  third.cancel();
  second.cancel();
  settle();
  BOOST_TEST(is_in(third));
  BOOST_TEST(second.calls() == 1);
  BOOST_TEST(third.calls() == 1);
}

BOOST_AUTO_TEST_CASE(passes_and_waiters_outlive_the_gate) {
  auto shared = detail::gate_state::make(make_scheduler(), {.safety = 30s});
  const std::weak_ptr watched = shared;
  std::optional<gate> g(std::move(shared));
  auto a = enter(*g, "a");
  auto behind_a = enter(*g, "a");
  auto b = enter(*g, "b");
  auto behind_b = enter(*g, "b");
  g.reset();
  leave(a);
  BOOST_TEST(is_in(behind_a));
  advance(30s);
  BOOST_TEST(is_in(behind_b));
  BOOST_TEST(is_evicted(b));
  leave(behind_a);
  leave(behind_b);
  BOOST_TEST(!watched.expired());
  leave(b);
  BOOST_TEST(watched.expired());
}

BOOST_AUTO_TEST_CASE(a_gate_without_passes_ends_with_its_object) {
  auto shared = detail::gate_state::make(make_scheduler(), {});
  const std::weak_ptr watched = shared;
  gate g(std::move(shared));
  { auto one = enter(g, "k"); }
  g = gate();
  BOOST_TEST(watched.expired());
}

BOOST_AUTO_TEST_CASE(the_context_ends_while_callers_wait) {
  auto shared = detail::gate_state::make(make_scheduler(), {});
  const std::weak_ptr watched = shared;
  std::optional<gate> g(std::move(shared));
  auto first = g->try_enter("k");
  const auto life = std::make_shared<int>();
  g->async_enter("k", [life](error_code, gate_pass) { BOOST_TEST(false, "called"); });
  settle();
  g->async_enter("m", [life](error_code, gate_pass) { BOOST_TEST(false, "called"); });
  BOOST_TEST(life.use_count() >= 3);
  destroy_context();
  BOOST_TEST(life.use_count() == 1);
  BOOST_TEST(!g->try_enter("n").has_value());
  BOOST_TEST(first->valid());
  first.reset();
  BOOST_TEST(g->statistics().active == 0u);
  g.reset();
  BOOST_TEST(watched.expired());
}

BOOST_AUTO_TEST_CASE(a_handler_that_owns_the_gate_is_destroyed_with_the_context) {
  auto shared = detail::gate_state::make(make_scheduler(), {});
  const std::weak_ptr watched = shared;
  auto g = std::make_shared<gate>(std::move(shared));
  auto first = std::make_shared<gate_pass>(std::move(*g->try_enter("k")));
  g->async_enter("k", [g, first](error_code, gate_pass) { BOOST_TEST(false, "called"); });
  settle();
  g.reset();
  first.reset();
  BOOST_TEST(!watched.expired());
  destroy_context();
  BOOST_TEST(watched.expired());
}

BOOST_AUTO_TEST_CASE(a_pass_whose_handler_is_destroyed_is_left) {
  auto shared = detail::gate_state::make(make_scheduler(), {});
  gate g(std::move(shared));
  auto first = g.try_enter("k");
  auto waiter = begin(g, "k");
  first.reset();  // the waiter has the pass now, and is not told yet
  destroy_context();
  BOOST_TEST(!waiter.done());
  BOOST_TEST(g.statistics().active == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

// The safety time of a gate, and its timer.
BOOST_FIXTURE_TEST_SUITE(gate_times, entering)

BOOST_AUTO_TEST_CASE(the_safety_time_counts_from_the_start_of_the_processing) {
  auto g = make_gate({.safety = 30s});
  auto slow = enter(g, "k");
  advance(29s);
  auto next = enter(g, "k");
  advance(999ms);
  BOOST_TEST(!next.done());
  BOOST_TEST(is_in(slow));
  advance(1ms);
  BOOST_TEST(is_in(next));
  BOOST_TEST(is_evicted(slow));
}

BOOST_AUTO_TEST_CASE(a_late_leave_does_not_throw_the_successor_out) {
  auto g = make_gate({.safety = 30s});
  auto slow = enter(g, "k");
  auto next = enter(g, "k");
  advance(30s);
  auto third = enter(g, "k");
  leave(slow);
  BOOST_TEST(is_in(next));
  BOOST_TEST(!third.done());
  advance(29s);
  BOOST_TEST(is_in(next));
  advance(1s);
  BOOST_TEST(is_evicted(next));
  BOOST_TEST(is_in(third));
  leave(third);
  leave(next);
  BOOST_TEST(g.statistics().active == 0u);
}

BOOST_AUTO_TEST_CASE(a_processing_with_nobody_behind_it_costs_no_timer_and_stays_valid) {
  auto g = make_gate({.safety = 30s});
  auto slow = enter(g, "k");
  BOOST_TEST(timers() == 0u);
  advance(1h);
  BOOST_TEST(is_in(slow));
  auto next = enter(g, "k");
  BOOST_TEST(is_in(next));
  BOOST_TEST(is_evicted(slow));
  advance(1h);
  auto tried = g.try_enter("k");
  BOOST_TEST((tried && tried->valid()));
  BOOST_TEST(is_evicted(next));
  BOOST_TEST(g.statistics().evicted == 2u);
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(the_timer_is_there_only_while_somebody_waits) {
  auto g = make_gate({.safety = 30s});
  auto first = enter(g, "k");
  auto second = enter(g, "k");
  BOOST_TEST(timers() == 1u);
  leave(first);
  BOOST_TEST(is_in(second));
  BOOST_TEST(timers() == 0u);
  auto third = enter(g, "k");
  BOOST_TEST(timers() == 1u);
  third.cancel();
  settle();
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(one_timer_serves_all_and_is_set_for_the_first_that_is_due) {
  auto g = make_gate({.safety = 30s});
  auto old = enter(g, "old");
  advance(10s);
  auto young = enter(g, "young");
  auto behind_young = enter(g, "young");
  auto behind_old = enter(g, "old");
  BOOST_TEST(timers() == 1u);
  advance(20s);
  BOOST_TEST(is_in(behind_old));
  BOOST_TEST(!behind_young.done());
  BOOST_TEST(timers() == 1u);
  advance(10s);
  BOOST_TEST(is_in(behind_young));
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(all_that_are_due_together_get_in) {
  auto g = make_gate({.safety = 30s});
  std::vector<entrant> heads;
  std::vector<entrant> waiters;
  for (int i = 0; i < 500; ++i) heads.push_back(enter(g, std::to_string(i)));
  for (int i = 0; i < 500; ++i) waiters.push_back(enter(g, std::to_string(i)));
  advance(30s);
  for (int i = 0; i < 500; ++i) {
    BOOST_TEST_REQUIRE(is_in(waiters[i]));
    BOOST_TEST_REQUIRE(is_evicted(heads[i]));
  }
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(a_caller_that_comes_before_a_late_timer_lets_the_waiter_in_first) {
  auto g = make_gate({.safety = 30s});
  auto first = enter(g, "k");
  auto second = enter(g, "k");
  state().now += 31s;  // the timer has not run yet, because the machine is busy
  auto third = enter(g, "k");
  BOOST_TEST(is_evicted(first));
  BOOST_TEST(is_in(second));
  BOOST_TEST(!third.done());
  state().now += 31s;
  BOOST_TEST(!g.try_enter("k").has_value());
  settle();
  BOOST_TEST(is_evicted(second));
  BOOST_TEST(is_in(third));
  BOOST_TEST(g.statistics().evicted == 2u);
}

BOOST_AUTO_TEST_CASE(without_a_limit_nobody_is_evicted) {
  auto g = make_gate({.safety = std::chrono::hours::max()});
  auto first = enter(g, "k");
  auto second = enter(g, "k");
  BOOST_TEST(timers() == 0u);
  advance(10'000h);
  BOOST_TEST(is_in(first));
  leave(first);
  BOOST_TEST(is_in(second));
}

BOOST_AUTO_TEST_SUITE_END()
