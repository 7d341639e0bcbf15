// What zkadmin follows by watches: it has to be true, and to cost little.
#include "cluster/live_place.hpp"

#include <algorithm>
#include <future>
#include <optional>
#include <set>
#include <utility>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/two_phase_commit.hpp>

#include "live/place_fixture.hpp"
#include "live/shard_worker.hpp"
#include "problems/rules.hpp"

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
    return all.found.size() == 20 && std::ranges::all_of(all.found, [](const auto& each) {
             return each.phase == "executing" && each.leader.has_value();
           });
  });
  settle(own);
  look(at);
  const auto before = requests_of(own);
  for (int i = 0; i < 10; ++i) BOOST_TEST(look(at).found.size() == 20u);
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
  const auto first = await(at, [&](const auto& all) { return all.found.at(0).hand_over.has_value(); });
  const auto before = first.found[0].hand_over->elapsed;
  await(at, [&](const auto& all) { return all.found.at(0).hand_over->elapsed > before + 100ms; });
  hold.open();
}

BOOST_AUTO_TEST_CASE(foreign_data_is_shown_and_so_is_its_end) {
  auto& only = join("/e", "a");
  BOOST_TEST_REQUIRE(run_until([&] { return only.leads; }));
  auto at = make();
  await(at, [&](const auto& all) { return leads(all, "/e", "a"); });
  const auto record = std::get<1>(run(zk().async_get("/e", tuple))).data;
  BOOST_TEST(!std::get<0>(run(zk().async_set("/e", "what is this", zkrecipes::any_version, tuple))));
  await(at, [&](const auto& all) { return all.found.at(0).phase == foreign_phase; });
  BOOST_TEST(!std::get<0>(run(zk().async_set("/e", record, zkrecipes::any_version, tuple))));
  await(at, [&](const auto& all) { return all.found.at(0).phase != foreign_phase; });
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

// An outage can take the whole time of a search.
BOOST_AUTO_TEST_CASE(a_search_that_was_cut_off_is_repeated_at_once_and_a_second_one_in_a_minute) {
  join("/e", "a");
  leaves("/e");
  const auto over = zkadmin::deadline();
  auto at = make();
  run_coroutine(at.search(over));
  BOOST_TEST(at.is_search_due());
  await(at, [&](const auto& all) { return leads(all, "/e", "a") && all.complete; });
  auto slow = make();
  for (int i = 0; i < 2; ++i) run_coroutine(slow.search(over));
  BOOST_TEST(!slow.is_search_due());
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
  BOOST_TEST_REQUIRE(run_until([&] { return run_coroutine(at.elections(deadline::max())).found.empty(); }));
  join("/e", "b");
  leaves("/e");
  // Without a search.
  BOOST_TEST_REQUIRE(run_until([&] { return leads(run_coroutine(at.elections(deadline::max())), "/e", "b"); }));
}

BOOST_AUTO_TEST_SUITE_END()

// The recipes that are neither elections nor shard groups, as zkadmin follows them by watches.

namespace {

struct recipes_fixture : place_fixture {
  void teardown() {
    own = {};
    for (const auto& each : made)
      if (contains(each)) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children(each, tuple))), each);
    place_fixture::teardown();
  }

  /// A refresh, as the dashboard makes it.
  void refresh(live_place& at) {
    look(at);
    if (auto all = at.new_others()) others = std::move(*all);
    if (auto all = at.new_topics()) topics = std::move(*all);
    if (auto all = at.new_commits()) commits = std::move(*all);
    if (auto all = at.new_queues()) queues = std::move(*all);
  }
  bool comes_to(live_place& at, const std::function<bool()>& is_reached) {
    return run_until([&] {
      refresh(at);
      return is_reached();
    });
  }
  const recipe_status* other(const std::string& path) const {
    const auto found = std::ranges::find(others.found, path, &recipe_status::path);
    return found == others.found.end() ? nullptr : &*found;
  }
  bool is(const std::string& path, const std::string& state, std::uint64_t waiting) const {
    const auto* found = other(path);
    return found && found->state == state && found->waiting == waiting;
  }

  /// Waits until ten refreshes cost ten requests, one proof each.
  bool comes_to_rest(live_place& at) {
    return run_until([&] {
      settle(own);
      const auto before = requests_of(own);
      for (int i = 0; i < 10; ++i) refresh(at);
      return requests_of(own) - before == 10;
    });
  }

  void put_batch(const std::string& key) {
    zkrecipes::topic_options with;
    with.shards = 2;
    zkrecipes::topic_producer by(zkrecipes::topic(zk(), "/t", with), "p");
    recorder<std::uint64_t> put(executor());
    by.async_put(key, "x", put.token());
    BOOST_TEST_REQUIRE(run_until([&] { return put.done(); }));
    BOOST_TEST_REQUIRE(!put.error(), put.error().message());
  }

  std::vector<std::string> made;
  recipe_survey others;
  topic_survey topics;
  commit_survey commits;
  queue_survey queues;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(live_recipes_suite, recipes_fixture)

BOOST_AUTO_TEST_CASE(a_lock_is_followed_and_costs_nothing_while_it_does_not_change) {
  made = {"/l"};
  zkrecipes::lock lock(zk(), "/l");
  auto held = run(lock.async_acquire(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(held));
  auto at = make();
  BOOST_TEST(comes_to(at, [&] { return is("/l", "held", 0); }));
  recorder<zkrecipes::ownership> second(executor());
  lock.async_acquire(second.token());
  BOOST_TEST(comes_to(at, [&] { return is("/l", "held", 1); }));
  BOOST_TEST(comes_to_rest(at));
  const auto age = other("/l")->age;
  BOOST_TEST(comes_to(at, [&] { return other("/l")->age > *age + 500ms; }));
  std::get<1>(held) = {};
  BOOST_TEST(comes_to(at, [&] { return is("/l", "held", 0); }));
  BOOST_TEST_REQUIRE(run_until([&] { return second.done(); }));
  second = recorder<zkrecipes::ownership>(executor());
}

BOOST_AUTO_TEST_CASE(a_recipe_that_is_deleted_and_made_anew_is_found_again) {
  made = {"/l"};
  auto at = make();
  for (int i = 0; i < 5; ++i) {
    zkrecipes::lock lock(zk(), "/l");
    auto held = run(lock.async_acquire(tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(held));
    const auto token = std::get<1>(held).token();
    const auto is_seen = [&] {
      const auto* found = other("/l");
      return found && !found->participants.empty() && found->participants[0].token == token;
    };
    BOOST_TEST(comes_to(at, is_seen));
    BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/l", tuple))));
    if (i % 2 == 0) refresh(at);
  }
}

BOOST_AUTO_TEST_CASE(what_is_declared_is_missing_until_it_comes) {
  made = {"/later"};
  live_place at(own, {.recipes = {{recipe::lock, "/later"}}, .interval = 100ms}, {});
  BOOST_TEST(comes_to(at, [&] { return other("/later") && other("/later")->access == recipe_access::missing; }));
  create("/later");
  BOOST_TEST(comes_to(at, [&] { return is("/later", "free", 0); }));
  remove("/later");
  BOOST_TEST(comes_to(at, [&] { return other("/later")->access == recipe_access::missing; }));
}

BOOST_AUTO_TEST_CASE(a_queue_with_a_long_list_is_not_read_at_each_change) {
  made = {"/q"};
  create("/q");
  constexpr int count = node_watches::most_watched_children + 200;
  const auto put = [this](int from, int to) {
    zkrecipes::transaction all;
    for (int i = from; i < to; ++i) all.create("/q/qn-", {}, zkrecipes::create_mode::persistent_sequential);
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_commit(all, tuple))));
  };
  for (int i = 0; i < count; i += 200) put(i, i + 200);
  live_place at(own, {.queues = {"/q"}, .interval = 100ms}, {});
  const auto holds = [this](int items) {
    return queues.found.size() == 1 && queues.found[0].items == static_cast<std::uint64_t>(items);
  };
  BOOST_TEST(comes_to(at, [&] { return holds(count); }));
  BOOST_TEST(comes_to_rest(at));
  const auto before = own.counters();
  put(0, 100);
  put(0, 100);
  settle(own);
  BOOST_TEST(own.counters().watch_events == before.watch_events);
  BOOST_TEST(holds(count));
  at.want_all();
  BOOST_TEST(comes_to(at, [&] { return holds(count + 200); }));
}

BOOST_AUTO_TEST_CASE(a_short_queue_is_followed) {
  made = {"/q"};
  create("/q");
  create("/q/qn-0000000000");
  live_place at(own, {.queues = {"/q"}, .interval = 100ms}, {});
  BOOST_TEST(comes_to(at, [&] { return queues.found.size() == 1 && queues.found[0].items == 1; }));
  create("/q/_dead");
  create("/q/_dead/letter-0000000000");
  BOOST_TEST(comes_to(at, [&] { return queues.found.size() == 1 && queues.found[0].dead_letters == 1; }));
  remove("/q/qn-0000000000");
  BOOST_TEST(comes_to(at, [&] { return queues.found.size() == 1 && queues.found[0].items == 0; }));
  create("/q/_parked");
  create("/q/_parked/6f0f5b64-3a0e-5a5e-9c4b-0f4d3f6a7d11", R"({"zkrecipes":"parked_key","key":"customer-3"})");
  BOOST_TEST(comes_to(at, [&] { return queues.found.size() == 1 && queues.found[0].parked_key == "customer-3"; }));
  BOOST_TEST(queues.found[0].parked_keys == 1u);
  BOOST_TEST(queues.found[0].parked_for.has_value());
}

// Off the screen it is read again after half a minute: meanwhile an item that has gone is not to look older and older.
BOOST_AUTO_TEST_CASE(what_is_known_to_be_outdated_does_not_grow_older) {
  made = {"/q"};
  create("/q");
  create("/q/qn-0000000000");
  live_place at(own, {.queues = {"/q"}, .interval = 100ms}, {});
  at.show({.others = false});
  BOOST_TEST_REQUIRE(comes_to(at, [&] { return queues.found.size() == 1 && queues.found[0].items == 1; }));
  const auto before = queues.found[0].oldest;
  BOOST_TEST(comes_to(at, [&] { return queues.found[0].oldest > before; }));
  remove("/q/qn-0000000000");
  const auto stands_still = [&] {
    const auto last = queues.found[0].oldest;
    look(at);
    auto all = at.new_queues();  // a second after the last one
    if (all) queues = std::move(*all);
    return all && queues.found[0].items == 1 && queues.found[0].oldest == last;
  };
  BOOST_TEST(run_until(stands_still));
}

BOOST_AUTO_TEST_CASE(an_item_that_is_not_due_yet_is_no_problem_however_long_a_taker_waits) {
  made = {"/q"};
  create("/q");
  const auto due = std::chrono::system_clock::now().time_since_epoch() + 1h;
  const auto digits = std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(due).count());
  create("/q/at-" + std::string(16 - digits.size(), '0') + digits + "-0000000000");
  create("/q/_idle");
  create("/q/_idle/0000000000");
  live_place at(own, {.queues = {"/q"}, .interval = 100ms}, {});
  BOOST_TEST_REQUIRE(comes_to(at, [&] { return queues.found.size() == 1 && queues.found[0].taker_waits > 10ms; }));
  const auto before = queues.found[0].oldest;
  BOOST_TEST((before < -50min));
  BOOST_TEST(comes_to(at, [&] { return queues.found[0].oldest > before + 100ms; }));
  BOOST_TEST(problems_of(queues.found[0], {.takeover_limit = 10ms}).empty());
}

BOOST_AUTO_TEST_CASE(a_topic_is_followed) {
  made = {"/t"};
  put_batch("a");
  auto at = make();
  const auto kept = [this] { return topics.found.size() == 1 ? total_of(topics.found[0].kept).messages : 0; };
  BOOST_TEST(comes_to(at, [&] { return kept() == 1; }));
  BOOST_TEST(comes_to_rest(at));
  put_batch("a");
  BOOST_TEST(comes_to(at, [&] { return kept() == 2; }));
}

BOOST_AUTO_TEST_CASE(transactions_are_followed) {
  made = {"/c"};
  zkrecipes::two_phase_commit commit(zk(), "/c");
  BOOST_TEST_REQUIRE(!std::get<0>(run(commit.async_begin("one", {"x"}, "", tuple))));
  auto at = make();
  BOOST_TEST(comes_to(at, [&] { return commits.found.size() == 1 && commits.found[0].undecided.size() == 1; }));
  BOOST_TEST_REQUIRE(!std::get<0>(run(commit.async_begin("two", {"x"}, "", tuple))));
  BOOST_TEST(comes_to(at, [&] { return commits.found[0].undecided.size() == 2; }));
  BOOST_TEST_REQUIRE(!std::get<0>(run(commit.async_vote("one", "x", zkrecipes::ballot::no, "", tuple))));
  BOOST_TEST(comes_to(at, [&] { return commits.found[0].undecided.size() == 1; }));
}

BOOST_AUTO_TEST_SUITE_END()
