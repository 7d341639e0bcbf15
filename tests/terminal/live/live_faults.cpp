// What zkadmin follows, under faults of its own session: behind each of them what is shown becomes right again, and
// nothing old is told as current meanwhile.
#include <algorithm>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <zkrecipes/consumer/shard_group.hpp>

#include "cluster/live_place.hpp"
#include "live/place_fixture.hpp"
#include "live/shard_worker.hpp"

using namespace zkadmin;
using namespace zkrecipes::test;

namespace {

constexpr const char* place_in_line = "/l/_c_6ba7b810-9dad-11d1-80b4-00c04fd430c8-lock-";

struct faults_fixture : place_fixture {
  void teardown() {
    own = {};
    if (contains("/l")) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/l", tuple))));
    if (contains("/g")) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/g", tuple))));
    place_fixture::teardown();
  }

  /// A short session through the proxy that only this case has.
  void connect_through_proxy() {
    auto with = far_options();
    with.timeout = 2s;
    own = connect_far(with);
  }

  /// An election, a lock and a shard group.
  void begin() {
    join("/e", "a");
    leaves("/e");
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_ensure_path("/l", tuple))));
    create(std::string(place_in_line) + "0000000000");
    group.emplace(connect(), "/g", zkrecipes::shard_group_options{.id = "a", .shards = 4, .collect = 50ms});
    BOOST_TEST_REQUIRE(run_until([&] { return group->executing() == 4; }));
  }
  void end() {
    group->stop();
    BOOST_TEST_REQUIRE(run_until([&] { return group->has_ended(); }));
    group.reset();
  }

  /// What others do while the session has its fault.
  void change() {
    join("/f", "b");
    leaves("/f");
    create(std::string(place_in_line) + "0000000001");
    zkrecipes::shard_group other(zk(), "/g", {.id = "x", .shards = 4});
    BOOST_TEST_REQUIRE(!std::get<0>(run(other.async_freeze(true, tuple))));
  }

  /// All that is told after `change`: nothing if the refresh has failed.
  struct picture {
    election_survey elections;
    group_survey groups;
  };
  boost::asio::awaitable<picture> refresh(live_place& at) {
    if (at.is_search_due()) co_await at.search(deadline::max());
    picture seen;
    seen.elections = co_await at.elections(deadline::max());
    seen.groups = co_await at.groups(deadline::max());
    co_return seen;
  }

  /// Behind a fault the first refresh that succeeds tells all changes.
  void is_right_at_once(live_place& at) {
    for (;;) {
      try {
        const auto seen = run_coroutine(refresh(at));
        BOOST_TEST((paths(seen.elections) >= std::set<std::string>{"/e", "/f", "/g/_planner"}));
        BOOST_TEST_REQUIRE(seen.groups.found.size() == 1u);
        BOOST_TEST(seen.groups.found[0].frozen);
        break;
      } catch (const failure&) {  // the connection is not back yet
      }
    }
    BOOST_TEST(run_until([&] { return has_waiter(at); }));
  }
  bool has_waiter(live_place& at) {
    run_coroutine(refresh(at));
    const auto others = at.new_others();
    if (others) recipes = *others;
    return recipes.complete && std::ranges::any_of(recipes.found, [](const recipe_status& each) {
             return each.path == "/l" && each.waiting == 1;
           });
  }
  /// Follows until everything is known.
  void settle_in(live_place& at) {
    BOOST_TEST_REQUIRE(run_until([&] {
      const auto seen = run_coroutine(refresh(at));
      if (auto others = at.new_others()) recipes = *others;
      return leads(seen.elections, "/e", "a") && seen.groups.found.size() == 1 &&
             std::ranges::find(recipes.found, "/l", &recipe_status::path) != recipes.found.end();
    }));
  }

  recipe_survey recipes;
  std::optional<shard_worker> group;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(live_faults_suite, faults_fixture)

BOOST_AUTO_TEST_CASE(behind_the_end_of_the_session) {
  begin();
  auto at = make();
  settle_in(at);
  const auto id = own.status().session_id;
  change();
  cluster().expire(id);
  BOOST_TEST_REQUIRE(run_until([&] { return own.status().incarnation == 2; }));
  is_right_at_once(at);
  end();
}

// To the servers a process that is stopped looks like one whose connection is frozen.
BOOST_AUTO_TEST_CASE(behind_a_pause_of_the_process) {
  connect_through_proxy();
  begin();
  BOOST_TEST_REQUIRE(!std::get<0>(run(own.async_create("/alive", "", zkrecipes::create_mode::ephemeral, tuple))));
  auto at = make();
  settle_in(at);
  ensemble_case::own().freeze(true);
  BOOST_TEST_REQUIRE(run_until([&] { return !contains("/alive"); }));
  change();
  ensemble_case::own().freeze(false);
  is_right_at_once(at);
  end();
}

BOOST_AUTO_TEST_CASE(behind_a_lost_connection_nothing_is_told_before_all_is_read_again) {
  connect_through_proxy();
  begin();
  auto at = make();
  settle_in(at);
  disconnect(own);
  change();
  auto told = boost::asio::co_spawn(io(), refresh(at), boost::asio::use_future);
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return told.wait_for(0s) == std::future_status::ready; }));
  try {
    told.get();
  } catch (const failure&) {
  }
  is_right_at_once(at);
  end();
}

// A server that is cut off from the leader answers reads for a while, and no request of this kind.
BOOST_AUTO_TEST_CASE(a_refresh_asks_the_leader) {
  connect_through_proxy();
  begin();
  auto at = make();
  settle_in(at);
  settle(own);
  BOOST_TEST(ensemble_case::own().drops() == 0u);
  ensemble_case::own().drop_request(testcluster::op::sync);
  look(at);
  BOOST_TEST(ensemble_case::own().drops() == 1u);
  end();
}

BOOST_AUTO_TEST_CASE(behind_a_slow_server) {
  connect_through_proxy();
  begin();
  auto at = make();
  settle_in(at);
  ensemble_case::own().set_delay(200ms);
  ensemble_case::own().set_bandwidth(20'000);
  change();
  BOOST_TEST(run_until([&] {
    const auto seen = run_coroutine(refresh(at));
    return leads(seen.elections, "/f", "b") && seen.groups.found.at(0).frozen;
  }));
  BOOST_TEST(run_until([&] { return has_waiter(at); }));
  ensemble_case::own().heal();
  end();
}

// All at once would be 300 requests in the moment in which a server has lost others and takes over their clients. The
// session's own probes, an eighth of its 300 watches in a heartbeat, do not count: a round follows the answers to the
// last.
BOOST_AUTO_TEST_CASE(behind_a_lost_connection_a_bounded_number_of_requests_is_in_flight) {
  constexpr std::uint64_t most = 80;
  connect_through_proxy();
  create("/many");
  const auto record = R"({"zkrecipes":"term","epoch":3,"phase":"executing","how":"clean","hand_over_deadline_ms":0,)"
                      R"("leader":{"id":"a","node":"_c_x-latch-0000000001","token":1}})";
  zkrecipes::transaction all;
  for (int i = 0; i < 300; ++i) all.create("/many/e" + std::to_string(i), record, zkrecipes::create_mode::persistent);
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_commit(all, tuple))));
  auto at = make();
  await(at, [](const auto& seen) { return seen.found.size() == 300; });
  disconnect(own);
  const auto open_requests = [this] { return own.counters().requests - own.counters().answers; };
  const auto lost = open_requests();
  reconnect();
  std::uint64_t busiest = 0;
  std::uint64_t heartbeats = own.counters().heartbeats;
  std::uint64_t probes = 0;
  auto told = boost::asio::co_spawn(io(), refresh(at), boost::asio::use_future);
  BOOST_TEST_REQUIRE(run_until([&] {
    const auto sent = own.counters().heartbeats;
    if (sent != heartbeats) probes = sent - std::exchange(heartbeats, sent);
    const auto open = open_requests() - lost;
    busiest = std::max(busiest, open - std::min(open, probes));
    return told.wait_for(0s) == std::future_status::ready;
  }));
  BOOST_TEST(busiest <= most);
  BOOST_TEST(run_coroutine(refresh(at)).elections.found.size() == 300u);
  own = {};
  BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/many", tuple))));
}

BOOST_AUTO_TEST_SUITE_END()
