// `zkadmin recipes` against real servers, with what processes share.
#include <optional>

#include <zkrecipes/consumer/shared_limiter.hpp>
#include <zkrecipes/flow/once_per.hpp>
#include <zkrecipes/flow/shared_balance.hpp>
#include <zkrecipes/flow/shared_gate.hpp>

#include "live/recipe_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
namespace json = boost::json;

BOOST_FIXTURE_TEST_SUITE(shared_recipes_suite, recipe_fixture)

BOOST_AUTO_TEST_CASE(a_gate_with_one_inside_and_one_that_waits) {
  shared_gate first(zk(), "/gate", {.id = "first"}), second(zk(), "/gate", {.id = "second"});
  removes("/gate");
  auto pass = run(first.async_enter("key", arrival::first, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(pass), std::get<0>(pass).message());
  recorder<shared_gate_pass> waiting(executor());
  second.async_enter("key", arrival::first, waiting.token());
  BOOST_TEST_REQUIRE(run_until([&] { return roles_of(recipe_at("/gate")) == "holder first, waiter second"; }));
  const auto seen = recipe_at("/gate");
  BOOST_TEST(seen.at("kind") == "shared_gate");
  BOOST_TEST((seen.at("state") == "in use" && seen.at("holder") == "first" && seen.at("waiting").as_int64() == 1));
  BOOST_TEST(seen.at("facts").at("buckets").as_int64() == 64);
  BOOST_TEST(seen.at("facts").at("callers").as_int64() == 2);
  BOOST_TEST(seen.at("session").as_string() == session_text(zk()));
  const auto parts = zkadmin({"sessions", session_text(zk()), "-o", "tsv", "--admin-port", "0"});
  BOOST_TEST(parts.out.find("\tshared gate\t" + root() + "/gate\tholder\n") != std::string::npos, parts.out);
  waiting.cancel();
  BOOST_TEST(run_until([&] { return waiting.done(); }));
  BOOST_TEST(!std::get<0>(run(std::get<1>(pass).async_leave(tuple))));
}

BOOST_AUTO_TEST_CASE(calls_once_per_period) {
  once_per calls(zk(), "/once", {.id = "me", .per = std::chrono::hours(24)});
  removes("/once");
  const auto claimed = run(calls.async_claim("invoice-7", "note", tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(claimed), std::get<0>(claimed).message());
  const auto seen = recipe_at("/once");
  BOOST_TEST(seen.at("kind") == "once_per_period");
  BOOST_TEST(roles_of(seen) == "intent me");
  BOOST_TEST(seen.at("participants").at(0).at("detail") == "invoice-7, note");
  BOOST_TEST(seen.at("facts").at("period_length_ms").as_int64() == 86'400'000);
  BOOST_TEST(seen.at("facts").at("intents").as_int64() == 1);
  BOOST_TEST(!std::get<0>(run(calls.async_withdraw(std::get<1>(claimed), tuple))));
  BOOST_TEST(roles_of(recipe_at("/once")) == "withdrawn me");
}

BOOST_AUTO_TEST_CASE(a_balance_and_its_members) {
  shared_balance pace(zk(), "/pace", {.id = "me", .range = 100});
  removes("/pace");
  recorder<> running(executor());
  pace.async_run(running.token());
  auto track = pace.track("t");
  BOOST_TEST_REQUIRE(run_until([&] { return contains("/pace/members") && children("/pace/members").size() == 1; }));
  const auto seen = recipe_at("/pace");
  BOOST_TEST(seen.at("kind") == "shared_balance");
  BOOST_TEST(seen.at("state") == "1 member");
  BOOST_TEST(roles_of(seen) == "member me");
  BOOST_TEST(seen.at("facts").at("range").as_int64() == 100);
  BOOST_TEST(seen.at("facts").at("limit").as_int64() >= 100);
  BOOST_TEST(list("membership").as_array().empty(), "the folder of its members is none");
  const auto parts = zkadmin({"sessions", session_text(zk()), "-o", "tsv", "--admin-port", "0"});
  BOOST_TEST(parts.out.find("\tshared balance\t" + root() + "/pace\tmember\n") != std::string::npos, parts.out);
  pace.stop();
  BOOST_TEST(run_until([&] { return running.done(); }));
}

BOOST_AUTO_TEST_CASE(a_limiter_is_a_shard_group_with_rates) {
  shared_limiter limit(zk(), "/limit", {.id = "me", .rate = 1000, .slices = 4, .burst = 200});
  removes("/limit");
  recorder<> running(executor());
  limit.async_run(running.token());
  BOOST_TEST_REQUIRE(run_until([&] { return limit.try_acquire(); }));
  const auto seen = recipe_at("/limit");
  BOOST_TEST(seen.at("kind").is_null());
  BOOST_TEST(seen.at("kinds").at(1) == "shared_limiter");
  BOOST_TEST(seen.at("facts").at("shards").as_int64() == 4);
  const std::string detail(seen.at("participants").at(0).at("detail").as_string());
  BOOST_TEST(detail.ends_with("1000 in 1.0 s, burst 200"), detail);
  BOOST_TEST(list("shared_limiter").as_array().size() == 1u);
  const auto known = recipe_at("/limit", {"--recipes", "shared_limiter:" + root() + "/limit"});
  BOOST_TEST(known.at("kind") == "shared_limiter");
  limit.stop();
  BOOST_TEST(run_until([&] { return running.done(); }));
}

BOOST_AUTO_TEST_SUITE_END()
