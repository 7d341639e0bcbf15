// A limit for each key, and the table of keys.
#include <string>

#include <boost/asio/detached.hpp>

#include "unit/limiting.hpp"
#include "unit/refusal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(keyed_limiters, limiting)

BOOST_AUTO_TEST_CASE(each_key_has_a_limit_of_its_own) {
  auto accounts = make_keyed({.rate = 1, .per = 60s, .burst = 2});
  BOOST_TEST(accounts.try_acquire("smith"));
  BOOST_TEST(accounts.try_acquire("smith"));
  BOOST_TEST(!accounts.try_acquire("smith"));
  BOOST_TEST(accounts.try_acquire("jones"));
  advance(60s);
  BOOST_TEST(accounts.try_acquire("smith"));
  BOOST_TEST(!accounts.try_acquire("smith"));
}

BOOST_AUTO_TEST_CASE(all_that_wait_for_a_key_are_served_in_order) {
  auto accounts = make_keyed({.rate = 1, .per = 10s});
  accounts.async_acquire("smith", expect("a").token());
  accounts.async_acquire("smith", expect("b").token());
  accounts.async_acquire("jones", expect("x").token());
  accounts.async_acquire("smith", expect("c").token());
  BOOST_TEST(order == "");
  settle();
  BOOST_TEST(order == "ax");
  BOOST_TEST(!accounts.try_acquire("smith"));
  BOOST_TEST(timers() == 1u);
  advance(10s);
  BOOST_TEST(order == "axb");
  advance(10s);
  BOOST_TEST(order == "axbc");
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(the_first_one_waits_and_the_others_are_declined) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .coalesce = keep::first});
  accounts.try_acquire("smith");
  accounts.async_acquire("smith", expect("a").token());
  auto& second = expect("b");
  accounts.async_acquire("smith", second.token());
  settle();
  BOOST_TEST(ended_with(second, errc::declined));
  advance(10s);
  BOOST_TEST(order == "a");
  accounts.async_acquire("smith", expect("c").token());
  advance(10s);
  BOOST_TEST(order == "ac");
}

BOOST_AUTO_TEST_CASE(the_newest_one_waits_and_the_others_are_declined) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .coalesce = keep::newest});
  accounts.try_acquire("smith");
  auto& first = expect("a");
  auto& second = expect("b");
  accounts.async_acquire("smith", first.token());
  advance(5s);
  accounts.async_acquire("smith", second.token());
  settle();
  BOOST_TEST(ended_with(first, errc::declined));
  BOOST_TEST(timers() == 1u);
  accounts.async_acquire("smith", expect("c").token());
  advance(5s);  // the time of the first one counts
  BOOST_TEST(ended_with(second, errc::declined));
  BOOST_TEST(order == "c");
  const auto seen = accounts.statistics();
  BOOST_TEST(seen.coalesced == 2u);
  BOOST_TEST(seen.declined == 2u);
  BOOST_TEST(seen.waited == 1u);
  BOOST_TEST(seen.waiting == 0u);
}

BOOST_AUTO_TEST_CASE(a_cancelled_one_gives_its_place_back) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .coalesce = keep::first});
  accounts.try_acquire("smith");
  auto& mine = expect("a");
  accounts.async_acquire("smith", mine.token());
  settle();
  mine.cancel();
  settle();
  BOOST_TEST(ended_with(mine, asio::error::operation_aborted));
  BOOST_TEST(timers() == 0u);
  accounts.async_acquire("smith", expect("b").token());
  mine.cancel();
  advance(10s);
  BOOST_TEST(order == "b");
  advance(10s);
  BOOST_TEST(accounts.try_acquire("smith"));
  BOOST_TEST(accounts.statistics().acquired == 3u);
}

BOOST_AUTO_TEST_CASE(a_cancellation_can_come_at_any_moment) {
  for (auto moment = 0ms; moment <= 25ms; moment += 1ms) {
    for (const bool is_settled : {false, true}) {
      auto hosts = make_keyed({.rate = 100, .per = 1s, .start_empty = true});
      auto& first = expect();
      auto& second = expect();
      hosts.async_acquire("k", first.token());
      hosts.async_acquire("k", second.token());
      if (is_settled)
        advance(moment);
      else
        state().now += moment;
      first.cancel();
      advance(50ms);
      BOOST_TEST(first.calls() == 1);
      BOOST_TEST(ended_with(second, error_code()));
      BOOST_TEST(hosts.statistics().acquired == (first.error() ? 1u : 2u));
      BOOST_TEST(hosts.try_acquire("k"));
    }
  }
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(one_key_is_held_off_and_the_others_are_not) {
  auto hosts = make_keyed({.rate = 10, .per = 1s, .burst = 5});
  hosts.hold_off("a", 30s);
  hosts.hold_off("a", 5s);
  BOOST_TEST(!hosts.try_acquire("a"));
  BOOST_TEST(hosts.try_acquire("b"));
  hosts.async_acquire("a", expect("a").token());
  advance(20s);
  hosts.hold_off("a", 20s);
  advance(20s - 1ns);
  BOOST_TEST(order == "");
  advance(1ns);
  BOOST_TEST(order == "a");
  BOOST_TEST(!hosts.try_acquire("a"));
  BOOST_TEST(hosts.statistics().held_off == 2u);
}

BOOST_AUTO_TEST_CASE(ten_thousand_keys_wait_at_once) {
  constexpr int keys = 10'000;
  auto accounts = make_keyed({.rate = 1, .per = 1s, .start_empty = true});
  int served = 0;
  for (int i = 0; i < keys; ++i) {
    accounts.async_acquire("key-" + std::to_string(i),
                           asio::bind_executor(io().get_executor(), [&](error_code error) { served += !error; }));
  }
  settle();
  BOOST_TEST(timers() == std::size_t(keys));
  BOOST_TEST(accounts.statistics().keys == std::size_t(keys));
  BOOST_TEST(accounts.statistics().waiting == std::size_t(keys));
  state().now += 1s;
  for (auto due = std::move(state().timers); auto& [id, timer] : due) timer.second();
  settle();
  BOOST_TEST(served == keys);
  BOOST_TEST(timers() == 0u);
  BOOST_TEST(accounts.statistics().waiting == 0u);
}

BOOST_AUTO_TEST_CASE(keys_whose_credit_is_back_are_forgotten) {
  auto accounts = make_keyed({.rate = 1, .per = 1s, .most_keys = 1'000});
  for (int i = 0; i < 500; ++i) accounts.try_acquire("old-" + std::to_string(i));
  BOOST_TEST(accounts.statistics().keys == 500u);
  for (int i = 0; i < 600; ++i) {
    advance(1s);
    BOOST_TEST(accounts.try_acquire("new-" + std::to_string(i)));
  }
  BOOST_TEST(accounts.statistics().keys <= 2u);
  BOOST_TEST(accounts.statistics().evicted == 0u);
}

BOOST_AUTO_TEST_CASE(a_full_table_forgets_the_key_that_is_nearest_to_its_end) {
  auto accounts = make_keyed({.rate = 1, .per = 60s, .burst = 3, .most_keys = 3});
  for (const auto* key : {"a", "a", "b", "c", "c"}) accounts.try_acquire(key);
  accounts.try_acquire("b");
  accounts.try_acquire("b");  // now `a` and `c` have the most credit, and then it is `c`
  accounts.try_acquire("a");
  BOOST_TEST(accounts.try_acquire("d"));
  BOOST_TEST(accounts.statistics().evicted == 1u);
  BOOST_TEST(accounts.statistics().keys == 3u);
  BOOST_TEST(!accounts.try_acquire("a"));
  BOOST_TEST(!accounts.try_acquire("b"));
  BOOST_TEST(accounts.try_acquire("c"));  // forgotten, so it has all its credit; and `d` goes
  BOOST_TEST(accounts.try_acquire("c"));
  BOOST_TEST(accounts.try_acquire("c"));
  BOOST_TEST(!accounts.try_acquire("c"));
  BOOST_TEST(accounts.statistics().evicted == 2u);
  BOOST_TEST(accounts.statistics().keys == 3u);
}

BOOST_AUTO_TEST_CASE(a_key_that_somebody_waits_for_is_not_forgotten) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .most_keys = 2, .start_empty = true});
  for (const auto* key : {"a", "b", "c"}) accounts.async_acquire(key, expect(key).token());
  settle();
  BOOST_TEST(accounts.statistics().keys == 3u);
  BOOST_TEST(accounts.statistics().evicted == 0u);
  BOOST_TEST(!accounts.try_acquire("d"));  // a call that is refused adds no key
  BOOST_TEST(accounts.statistics().keys == 3u);
  advance(10s);
  BOOST_TEST(order == "abc");
  BOOST_TEST(accounts.try_acquire("d"));
  BOOST_TEST(accounts.statistics().keys == 2u);
  BOOST_TEST(accounts.statistics().evicted == 2u);
  BOOST_TEST(!accounts.try_acquire("d"));
}

BOOST_AUTO_TEST_CASE(the_table_is_bounded_in_all_its_parts) {
  constexpr std::size_t most = 10'000;
  auto accounts = make_keyed({.rate = 1, .per = 1h, .most_keys = most});
  for (int i = 0; i < 50'000; ++i) BOOST_TEST(accounts.try_acquire(std::to_string(i)));
  const auto seen = accounts.statistics();
  BOOST_TEST(seen.keys == most);
  BOOST_TEST(seen.evicted == 50'000 - most);
  BOOST_TEST(seen.acquired == 50'000u);
}

BOOST_AUTO_TEST_CASE(operations_outlive_the_object) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .start_empty = true});
  accounts.async_acquire("smith", expect("a").token());
  accounts = keyed_limiter();
  advance(10s);
  BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_CASE(a_context_that_is_destroyed_takes_those_that_wait_along) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .start_empty = true});
  auto guard = std::make_shared<int>();
  const std::weak_ptr<int> watch = guard;
  for (const auto* key : {"a", "b", "b"}) {
    auto waits = [](keyed_limiter from, std::string of, std::shared_ptr<int>) -> asio::awaitable<void> {
      co_await from.async_acquire(std::move(of));
      BOOST_ERROR("let through");
    };
    asio::co_spawn(io(), waits(accounts, key, guard), asio::detached);
  }
  guard.reset();
  settle();
  BOOST_TEST(timers() == 2u);
  accounts = keyed_limiter();
  destroy_context();
  BOOST_TEST(watch.expired());
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(one_that_stands_for_nothing_lets_nothing_through) {
  keyed_limiter none;
  BOOST_TEST(!none.try_acquire("a"));
  none.hold_off("a", 1s);
  BOOST_TEST((none.statistics() == keyed_limiter_statistics()));
  BOOST_TEST(none.options().rate == 0u);
  BOOST_TEST(!none.get_executor());
  none.async_acquire("a", expect().token());
  settle();
  BOOST_TEST(ended_with(all.front(), errc::closed));
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
  const auto said = [this](keyed_limiter_options options) { return refusal([&] { make_keyed(options); }); };
  BOOST_TEST(said({}).starts_with("keyed_limiter_options::rate is 0; it must be from 1"));
  BOOST_TEST(said({.rate = 1, .per = -1s}).starts_with("keyed_limiter_options::per is -1000000000 ns;"));
  BOOST_TEST(said({.rate = 1, .burst = 0}).starts_with("keyed_limiter_options::burst is 0;"));
  BOOST_TEST(said({.rate = 1, .most_keys = 0}).starts_with("keyed_limiter_options::most_keys is 0;"));
  BOOST_TEST(said({.rate = 1, .most_keys = 100'000'001}).starts_with("keyed_limiter_options::most_keys"));
  BOOST_TEST(said({.rate = 1}) == "");
  BOOST_TEST(
      refusal([] { keyed_limiter(asio::any_io_executor(), {.rate = 1}); }).starts_with("keyed_limiter executor"));
}

BOOST_AUTO_TEST_SUITE_END()
