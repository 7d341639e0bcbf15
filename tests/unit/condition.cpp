// `condition`, the only thing that the library's coroutines wait on, and `forwarding`.
#include "session/condition.hpp"

#include <algorithm>
#include <deque>

#include <boost/test/unit_test.hpp>

#include "session/operation.hpp"
#include "support/fake_world.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

/// One waiting coroutine: why it was woken, and its cancellation signal.
struct waiting {
  std::vector<wake> woken;
  asio::cancellation_signal signal;
};

struct condition_case : fake_bench {
  scheduler_ptr scheduler = make_scheduler();
  std::unique_ptr<condition> changed = std::make_unique<condition>(scheduler);

  static awaitable<void> body(condition& on, waiting& who, lease_clock::time_point deadline, int times) {
    co_await accept_cancellation();
    for (int i = 0; i < times; ++i) {
      auto why = co_await on.wait(deadline);
      who.woken.push_back(why);
    }
  }
  void start(waiting& who, lease_clock::time_point deadline = never, int times = 1) {
    asio::co_spawn(scheduler->strand, body(*changed, who, deadline, times),
                   asio::bind_cancellation_slot(who.signal.slot(), [](std::exception_ptr) {}));
    settle();
  }
};

bool woken_by(const waiting& who, const std::vector<wake>& expected) { return who.woken == expected; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(conditions, condition_case)

BOOST_AUTO_TEST_CASE(all_who_wait_are_notified_later_and_once) {
  waiting one;
  waiting two;
  start(one);
  start(two);
  changed->notify();
  BOOST_TEST(one.woken.empty(), "resumed inside notify");
  changed->notify();
  settle();
  BOOST_TEST(woken_by(one, {wake::notified}));
  BOOST_TEST(woken_by(two, {wake::notified}));
}

BOOST_AUTO_TEST_CASE(a_crowd_is_resumed_in_parts_and_in_order) {
  constexpr std::size_t many = 1'000;
  std::deque<waiting> crowd(many);
  for (auto& each : crowd) start(each);
  const auto resumed = [&] {
    return static_cast<std::size_t>(
        std::ranges::count_if(crowd, [](const waiting& each) { return !each.woken.empty(); }));
  };
  changed->notify();
  std::size_t before_the_next = many;
  asio::post(scheduler->base, [&] { before_the_next = resumed(); });  // a handler of the user's, or a reply
  settle();
  BOOST_TEST(before_the_next > 0u);
  BOOST_TEST(before_the_next < many);
  BOOST_TEST(!crowd[before_the_next - 1].woken.empty());
  BOOST_TEST(resumed() == many);
}

BOOST_AUTO_TEST_CASE(a_notice_is_not_kept_for_who_comes_later) {
  waiting late;
  changed->notify();
  start(late);
  BOOST_TEST(late.woken.empty());
  changed->notify();
  settle();
  BOOST_TEST(woken_by(late, {wake::notified}));
}

BOOST_AUTO_TEST_CASE(a_deadline_ends_the_wait) {
  waiting who;
  start(who, now() + 5s);
  advance(5s - 1ns);
  BOOST_TEST(who.woken.empty());
  advance(1ns);
  BOOST_TEST(woken_by(who, {wake::timed_out}));
}

BOOST_AUTO_TEST_CASE(a_deadline_that_has_passed_is_no_wait) {
  waiting who;
  start(who, now());
  BOOST_TEST(woken_by(who, {wake::timed_out}));
}

BOOST_AUTO_TEST_CASE(a_notified_waiter_leaves_no_timer) {
  waiting who;
  start(who, now() + 5s);
  BOOST_TEST(state().timers.size() == 1u);
  changed->notify();
  settle();
  BOOST_TEST(state().timers.empty());
  advance(10s);
  BOOST_TEST(woken_by(who, {wake::notified}));
}

BOOST_AUTO_TEST_CASE(every_type_of_cancellation_ends_the_wait) {
  using type = asio::cancellation_type;
  for (auto which : {type::terminal, type::partial, type::total, type::all}) {
    waiting who;
    start(who, now() + 5s);
    who.signal.emit(which);
    BOOST_TEST(who.woken.empty(), "resumed inside emit");
    settle();
    BOOST_TEST(woken_by(who, {wake::cancelled}));
    BOOST_TEST(state().timers.empty());
  }
}

BOOST_AUTO_TEST_CASE(two_signals_resume_once_and_a_cancelled_wait_stays_so) {
  waiting who;
  start(who, never, 3);
  who.signal.emit(asio::cancellation_type::total);
  who.signal.emit(asio::cancellation_type::terminal);
  settle();
  BOOST_TEST(woken_by(who, {wake::cancelled, wake::cancelled, wake::cancelled}));
}

BOOST_AUTO_TEST_CASE(a_signal_behind_a_notice_is_seen_by_the_next_wait) {
  waiting who;
  start(who, never, 2);
  changed->notify();
  who.signal.emit(asio::cancellation_type::total);
  settle();
  BOOST_TEST(woken_by(who, {wake::notified, wake::cancelled}));
}

BOOST_AUTO_TEST_CASE(a_signal_after_the_condition_has_gone_does_no_harm) {
  waiting who;
  start(who, now() + 5s);
  changed.reset();
  BOOST_TEST(state().timers.empty());
  who.signal.emit(asio::cancellation_type::total);
  settle();
  BOOST_TEST(who.woken.empty());
}

BOOST_AUTO_TEST_CASE(one_of_many_is_cancelled_and_the_others_wait_on) {
  waiting one;
  waiting two;
  start(one);
  start(two);
  one.signal.emit(asio::cancellation_type::total);
  settle();
  BOOST_TEST(woken_by(one, {wake::cancelled}));
  BOOST_TEST(two.woken.empty());
  changed->notify();
  settle();
  BOOST_TEST(woken_by(two, {wake::notified}));
}

namespace {

/// Owns the condition that it waits on, as recipes do.
awaitable<void> wait_on_own(std::shared_ptr<condition> own, std::shared_ptr<int> cargo) {
  co_await own->wait();
  ++*cargo;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_context_that_ends_takes_its_waiters_along) {
  auto cargo = std::make_shared<int>(0);
  launch_detached(scheduler->strand, wait_on_own(std::make_shared<condition>(scheduler), cargo));
  launch_detached(scheduler->strand, wait_on_own(std::make_shared<condition>(scheduler), cargo));
  settle();
  BOOST_TEST(cargo.use_count() == 3);
  changed.reset();
  scheduler.reset();
  destroy_context();
  BOOST_TEST(cargo.use_count() == 1, "a waiter leaked");
  BOOST_TEST(*cargo == 0, "a waiter was resumed");
}

BOOST_AUTO_TEST_CASE(a_forwarding_passes_notifications_on_for_as_long_as_it_lives) {
  condition source(scheduler);
  waiting who;
  start(who, never, 2);
  {
    const forwarding passed_on(source, *changed);
    source.notify();
    settle();
    BOOST_TEST(woken_by(who, {wake::notified}));
  }
  source.notify();
  settle();
  BOOST_TEST(woken_by(who, {wake::notified}));
  changed->notify();
  settle();
  BOOST_TEST(woken_by(who, {wake::notified, wake::notified}));
}

BOOST_AUTO_TEST_CASE(forwardings_of_one_condition_end_in_any_order) {
  condition source(scheduler);
  condition other(scheduler);
  auto first = std::make_unique<forwarding>(source, *changed);
  auto second = std::make_unique<forwarding>(source, other);
  auto third = std::make_unique<forwarding>(source, *changed);
  waiting who;
  start(who, never, 3);
  second.reset();
  source.notify();
  settle();
  BOOST_TEST(who.woken.size() == 1u);
  third.reset();
  source.notify();
  settle();
  BOOST_TEST(who.woken.size() == 2u);
  first.reset();
  source.notify();
  settle();
  BOOST_TEST(who.woken.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_notification_is_forwarded_over_several_conditions_and_from_several) {
  condition source(scheduler);
  condition between(scheduler);
  condition second_source(scheduler);
  const forwarding to_between(source, between);
  const forwarding to_changed(between, *changed);
  const forwarding also(second_source, *changed);
  waiting who;
  start(who, never, 3);
  source.notify();
  settle();
  BOOST_TEST(who.woken.size() == 1u);
  second_source.notify();
  settle();
  BOOST_TEST(who.woken.size() == 2u);
  between.notify();
  settle();
  BOOST_TEST(who.woken.size() == 3u);
}

namespace {

/// Waits on a condition of its own, to which that of another object is forwarded.
awaitable<void> wait_on_another(std::shared_ptr<condition> another, scheduler_ptr on, std::shared_ptr<int> cargo) {
  condition own(std::move(on));
  const forwarding passed_on(*another, own);
  co_await own.wait();
  ++*cargo;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_context_that_ends_takes_forwardings_along) {
  auto cargo = std::make_shared<int>(0);
  auto another = std::make_shared<condition>(scheduler);
  launch_detached(scheduler->strand, wait_on_another(another, scheduler, cargo));
  launch_detached(scheduler->strand, wait_on_another(another, scheduler, cargo));
  settle();
  another->notify();
  settle();
  BOOST_TEST(*cargo == 2);
  launch_detached(scheduler->strand, wait_on_another(another, scheduler, cargo));
  settle();
  changed.reset();
  another.reset();
  scheduler.reset();
  destroy_context();
  BOOST_TEST(cargo.use_count() == 1, "a waiter leaked");
}

BOOST_AUTO_TEST_SUITE_END()
