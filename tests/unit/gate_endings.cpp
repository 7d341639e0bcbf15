// Callers of a gate that are cancelled, and ends of the gate and of its context.
#include <memory>
#include <optional>

#include <boost/test/unit_test.hpp>

#include "unit/entering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

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
