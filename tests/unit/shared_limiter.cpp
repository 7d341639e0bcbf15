// A shared limiter without servers: its options, and its life around a run.
#include <zkrecipes/consumer/shared_limiter.hpp>

#include "unit/fake_session.hpp"
#include "unit/refusal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(shared_limiters, fake_session)

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
  const auto said = [this](shared_limiter_options options) {
    if (options.id.empty()) options.id = "a";
    return refusal([&] { shared_limiter(zk, "/limit", options); });
  };
  BOOST_TEST(said({}).starts_with("shared_limiter_options::rate: it must be 1 to"));
  BOOST_TEST(said({.rate = 1'000'000'001}).starts_with("shared_limiter_options::rate"));
  BOOST_TEST(said({.rate = 100, .per = 999ns}).starts_with("shared_limiter_options::per"));
  BOOST_TEST(said({.rate = 100, .per = 25h}).starts_with("shared_limiter_options::per"));
  BOOST_TEST(said({.rate = 100, .slices = 0}).starts_with("shared_limiter_options::slices"));
  BOOST_TEST(said({.rate = 100, .slices = 10'001}).starts_with("shared_limiter_options::slices"));
  BOOST_TEST(said({.rate = 100, .slices = 10, .burst = 9}).starts_with("shared_limiter_options::burst: it must be at"));
  BOOST_TEST(said({.rate = 100, .burst = 1'000'000'001}).starts_with("shared_limiter_options::burst"));
  BOOST_TEST(said({.rate = 1, .per = 24h, .slices = 2}).starts_with("shared_limiter_options::burst: it must be back"));
  BOOST_TEST(said({.rate = 100, .capacity = 0}).starts_with("shared_limiter_options::capacity"));
  BOOST_TEST(said({.rate = 100, .grace = -1ms}).starts_with("shared_limiter_options::grace"));
  BOOST_TEST(said({.id = "a\n", .rate = 100}).starts_with("shared_limiter_options::id"));
  BOOST_TEST(said({.rate = 2, .per = 24h, .slices = 2}) == "");
  BOOST_TEST(refusal([&] { shared_limiter(zk, "limit", {.id = "a", .rate = 1}); }).starts_with("shared limiter path"));
  BOOST_TEST(refusal([&] { shared_limiter(zk, "/", {.id = "a", .rate = 1}); }).starts_with("shared limiter path"));
}

BOOST_AUTO_TEST_CASE(a_burst_of_its_own_choice_is_one_for_each_slice) {
  const shared_limiter bank(zk, "/limit", {.id = "a", .rate = 100, .slices = 20});
  BOOST_TEST(bank.options().burst == 20u);
  BOOST_TEST(bank.path() == "/limit");
}

BOOST_AUTO_TEST_CASE(operations_wait_during_a_run_only) {
  connect();
  shared_limiter bank(zk, "/limit", {.id = "a", .rate = 100});
  auto before = bank.async_acquire(1, begun());
  BOOST_TEST((before.done() && before.error() == errc::closed));
  auto running = bank.async_run(recorded());
  auto early = bank.async_acquire(1, recorded());
  auto second = bank.async_run(begun());
  BOOST_TEST((second.done() && second.error() == errc::busy));
  BOOST_TEST(!early.done());
  CHECK_PENDING("get /limit");
  bank.stop();
  fail(errc::connection_loss);
  settle();
  advance(10s);
  while (!last().pending.empty()) fail(errc::no_node);
  BOOST_TEST_REQUIRE(succeeded(running));
  BOOST_TEST((early.done() && early.error() == errc::closed));
  auto late = bank.async_acquire_for(1, 1h, begun());
  BOOST_TEST((late.done() && late.error() == errc::closed));
}

BOOST_AUTO_TEST_CASE(a_group_of_another_recipe_ends_the_run_and_those_that_wait) {
  connect();
  shared_limiter bank(zk, "/limit", {.id = "a", .rate = 100, .slices = 8});
  auto running = bank.async_run(recorded());
  auto waiting = bank.async_acquire(1, begun());
  answer_with({.data = R"({"zkrecipes":"shards","count":9,"hash":"crc32"})"});
  settle();
  BOOST_TEST_REQUIRE(ended_with(running, errc::size_mismatch));
  BOOST_TEST((waiting.done() && waiting.error() == errc::closed));
}

BOOST_AUTO_TEST_CASE(one_that_stands_for_nothing_lets_nothing_through) {
  shared_limiter none;
  BOOST_TEST(!none.try_acquire());
  none.hold_off(1s);
  none.stop();
  none.drain();
  BOOST_TEST(none.status().all == 0u);
  BOOST_TEST((none.statistics() == limiter_statistics()));
  BOOST_TEST(none.options().rate == 0u);
  BOOST_TEST(none.path() == "");
  auto run = none.async_run(recorded());
  auto one = none.async_acquire(1, begun());
  BOOST_TEST((run.done() && run.error() == errc::closed));
  BOOST_TEST((one.done() && one.error() == errc::closed));
}

BOOST_AUTO_TEST_SUITE_END()
