// The recipes that are neither elections nor shard groups, as zkadmin follows them by watches.
#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/two_phase_commit.hpp>

#include "live/place_fixture.hpp"

using namespace zkadmin;
using namespace zkrecipes::test;

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
