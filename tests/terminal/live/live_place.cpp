// What zkadmin follows by watches: it has to be true, and to cost little.
#include "cluster/live_place.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "live/place_fixture.hpp"
#include "live/shard_worker.hpp"

using namespace zkadmin;
using namespace zkrecipes::test;
using zkrecipes::errc;

BOOST_FIXTURE_TEST_SUITE(live_place_suite, place_fixture)

BOOST_AUTO_TEST_CASE(a_refresh_costs_one_request_when_nothing_has_changed) {
  create("/many");
  leaves("/many");
  for (int i = 0; i < 20; ++i) join("/many/e" + std::to_string(i), "a");
  join("/many/e0", "b");
  auto at = make();
  await(at, [&](const auto& all) {
    return all.elections.size() == 20 && std::ranges::all_of(all.elections, [](const auto& each) {
             return each.phase == "executing" && each.leader.has_value();
           });
  });
  settle(own);
  look(at);
  const auto before = requests_of(own);
  for (int i = 0; i < 10; ++i) BOOST_TEST(look(at).elections.size() == 20u);
  BOOST_TEST(requests_of(own) - before == 10u);
  for (int i = 0; i < 20; ++i) leaves("/many/e" + std::to_string(i));
}

BOOST_AUTO_TEST_CASE(new_elections_appear_and_removed_ones_go_without_another_search_of_everything) {
  create("/a");
  leaves("/a");
  auto& first = join("/a/e", "w");
  auto at = make();
  await(at, [&](const auto& all) { return leads(all, "/a/e", "w"); });
  join("/b/deep/down/e", "w");
  const auto both = await(at, [&](const auto& all) { return leads(all, "/b/deep/down/e", "w"); });
  BOOST_TEST((paths(both) == std::set<std::string>{"/a/e", "/b/deep/down/e"}));
  first.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return first.has_ended(); }));
  remove("/a/e");
  await(at, [&](const auto& all) { return paths(all) == std::set<std::string>{"/b/deep/down/e"}; });
  BOOST_TEST(changes > 0);
  for (const auto* each : {"/b", "/b/deep", "/b/deep/down", "/b/deep/down/e"}) leaves(each);
}

BOOST_AUTO_TEST_CASE(no_state_of_an_election_is_lost_that_was_seen) {
  auto& first = join("/e", "a");
  auto& second = join("/e", "b");
  leaves("/e");
  BOOST_TEST_REQUIRE(run_until([&] { return first.leads; }));
  auto at = make();
  await(at, [&](const auto& all) { return leads(all, "/e", "a"); });
  const auto seen = losses;
  const auto before = changes;
  auto& hold = first.hold_back();
  BOOST_TEST(zkadmin({"resign", root() + "/e", "--rw"}).code == 0);
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached() && changes > before; }));
  hold.open();
  BOOST_TEST_REQUIRE(run_until([&] { return second.leads; }));
  BOOST_TEST_REQUIRE(run_until([&] { return losses > seen; }));
  await(at, [&](const auto& all) { return leads(all, "/e", "b"); });
}

BOOST_AUTO_TEST_CASE(ages_grow_without_reading) {
  auto& only = join("/e", "a");
  leaves("/e");
  BOOST_TEST_REQUIRE(run_until([&] { return only.leads; }));
  auto& hold = only.hold_back();
  auto at = make();
  await(at, [&](const auto& all) { return leads(all, "/e", "a"); });
  BOOST_TEST(zkadmin({"resign", root() + "/e", "--rw"}).code == 0);
  const auto first = await(at, [&](const auto& all) { return all.elections.at(0).hand_over.has_value(); });
  const auto before = first.elections[0].hand_over->elapsed;
  await(at, [&](const auto& all) { return all.elections.at(0).hand_over->elapsed > before + 100ms; });
  hold.open();
}

BOOST_AUTO_TEST_CASE(foreign_data_is_shown_and_so_is_its_end) {
  auto& only = join("/e", "a");
  BOOST_TEST_REQUIRE(run_until([&] { return only.leads; }));
  auto at = make();
  await(at, [&](const auto& all) { return leads(all, "/e", "a"); });
  const auto record = std::get<1>(run(zk().async_get("/e", tuple))).data;
  BOOST_TEST(!std::get<0>(run(zk().async_set("/e", "what is this", zkrecipes::any_version, tuple))));
  await(at, [&](const auto& all) { return all.elections.at(0).phase == foreign_phase; });
  BOOST_TEST(!std::get<0>(run(zk().async_set("/e", record, zkrecipes::any_version, tuple))));
  await(at, [&](const auto& all) { return all.elections.at(0).phase != foreign_phase; });
  leaves("/e");
}

BOOST_AUTO_TEST_CASE(it_is_true_again_behind_a_lost_connection) {
  own = connect_far();
  join("/e", "a");
  leaves("/e");
  auto at = make();
  await(at, [&](const auto& all) { return leads(all, "/e", "a"); });
  disconnect(own);
  join("/f", "b");
  leaves("/f");
  reconnect();
  await(at, [&](const auto& all) { return leads(all, "/f", "b") && leads(all, "/e", "a"); });
}

BOOST_AUTO_TEST_CASE(a_shard_group_is_followed) {
  shard_worker first(connect(), "/g", {.id = "a", .shards = 8, .collect = 50ms});
  BOOST_TEST_REQUIRE(run_until([&] { return first.executing() == 8; }));
  auto at = make();
  look(at);
  const auto is_whole = [&] {
    if (at.is_search_due()) search(at);
    const auto all = run_coroutine(at.groups(deadline::max()));
    return all.found.size() == 1 && owned_count(all.found[0]) == 8 && all.found[0].planner == "a";
  };
  BOOST_TEST_REQUIRE(run_until(is_whole));
  settle(own);
  look(at);
  const auto before = requests_of(own);
  for (int i = 0; i < 5; ++i) BOOST_TEST(is_whole());
  BOOST_TEST(requests_of(own) == before);
  first.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return first.has_ended(); }));
  BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/g", tuple))));
}

// The dashboard tells what it knows, so a large group does not hold up what stands beside it.
BOOST_AUTO_TEST_CASE(a_group_that_is_read_again_keeps_its_state_and_holds_nobody_up) {
  own = connect_far();
  shard_worker first(connect(), "/g", {.id = "a", .shards = 8, .collect = 50ms});
  BOOST_TEST_REQUIRE(run_until([&] { return first.executing() == 8; }));
  auto at = make();
  look(at);
  const auto knows_all = [&] {
    if (at.is_search_due()) search(at);
    const auto all = at.new_groups();
    return all && all->complete && all->found.size() == 1 && owned_count(all->found[0]) == 8;
  };
  BOOST_TEST_REQUIRE(run_until(knows_all));
  disconnect(own);
  std::optional<group_survey> meanwhile;
  BOOST_TEST_REQUIRE(run_until([&] {
    meanwhile = at.new_groups();
    return !meanwhile || !meanwhile->complete;
  }));
  BOOST_TEST_REQUIRE(meanwhile.has_value());
  BOOST_TEST_REQUIRE(meanwhile->found.size() == 1u);
  BOOST_TEST(owned_count(meanwhile->found[0]) == 8);
  BOOST_TEST(std::ranges::any_of(meanwhile->notes, [](const auto& each) {
    return each.text == "it has not been read since the connection was lost";
  }));
  reconnect();
  BOOST_TEST_REQUIRE(run_until(knows_all));
  first.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return first.has_ended(); }));
  BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/g", tuple))));
}

// A change next to a large tree must not make the tree be searched anew.
BOOST_AUTO_TEST_CASE(a_change_at_the_root_costs_no_search_of_the_rest) {
  create("/a");
  leaves("/a");
  for (int i = 0; i < 30; ++i) create("/a/" + std::to_string(i));
  join("/e", "w");
  leaves("/e");
  auto at = make();
  await(at, [&](const auto& all) { return leads(all, "/e", "w"); });
  settle(own);
  look(at);
  const auto before = requests_of(own);
  create("/b");
  BOOST_TEST_REQUIRE(run_until([&] { return at.is_search_due(); }));
  BOOST_TEST(leads(look(at), "/e", "w"));
  BOOST_TEST(requests_of(own) - before <= 8u);  // of 34 nodes two are visited
  remove("/b");
  for (int i = 0; i < 30; ++i) remove("/a/" + std::to_string(i));
}

BOOST_AUTO_TEST_CASE(what_was_found_stays_while_another_search_runs) {
  join("/e", "w");
  leaves("/e");
  auto at = make();
  await(at, [&](const auto& all) { return leads(all, "/e", "w"); });
  at.want_all();
  auto search = boost::asio::co_spawn(io(), at.search(deadline::max()), boost::asio::use_future);
  do {
    BOOST_TEST_REQUIRE(at.found(recipe::election).size() == 1u);
  } while (search.wait_for(0s) != std::future_status::ready && (io().restart(), io().run_one() > 0));
  BOOST_TEST((search.wait_for(0s) == std::future_status::ready));
}

BOOST_AUTO_TEST_CASE(an_election_that_goes_and_comes_back_is_followed_again) {
  auto& first = join("/e", "a");
  auto at = make();
  await(at, [&](const auto& all) { return leads(all, "/e", "a"); });
  first.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return first.has_ended(); }));
  remove("/e");
  BOOST_TEST_REQUIRE(run_until([&] { return run_coroutine(at.elections(deadline::max())).elections.empty(); }));
  join("/e", "b");
  leaves("/e");
  // Without a search.
  BOOST_TEST_REQUIRE(run_until([&] { return leads(run_coroutine(at.elections(deadline::max())), "/e", "b"); }));
}

BOOST_AUTO_TEST_SUITE_END()
