// A follower shows a shard group as it is, without asking; routers go by it.
#include <map>

#include <zkrecipes/consumer/shard_group_follower.hpp>
#include <zkrecipes/consumer/shard_router.hpp>

#include "ensemble/shard_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using owners = std::map<std::uint32_t, std::string>;

/// The owner of each shard that is executed.
owners owners_of(const shard_group_view& view) {
  owners all;
  for (const auto& each : view.shards)
    if (each.phase == term_phase::executing && !each.is_moving()) all[each.number] = each.owner;
  return all;
}

struct follower_case : shard_case {
  /// The next state for which the condition holds. The first member makes the group, and may not have done so yet.
  template <class Condition>
  shard_group_view await_view(shard_group_follower& follower, Condition is_reached) {
    std::uint64_t seen = 0;
    for (;;) {
      auto [error, view] = run(follower.async_change(seen, tuple));
      if (error == errc::no_node && seen == 0) {
        settle(zk());
        continue;
      }
      BOOST_TEST_REQUIRE(!error, error.message());
      if (is_reached(view)) return view;
      seen = view.revision;
    }
  }

  static bool owns_all(const shard_group_view& view, const std::string& id) {
    const auto all = owners_of(view);
    return view.count > 0 && all.size() == view.count &&
           std::ranges::all_of(all, [&](const auto& each) { return each.second == id; });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shard_followers, follower_case)

BOOST_AUTO_TEST_CASE(it_shows_what_a_view_shows) {
  add("a");
  shard_group_follower follower(zk(), "/g");
  const auto whole = await_view(follower, [](const auto& view) { return owns_all(view, "a"); });
  BOOST_TEST(whole.count == 12u);
  BOOST_TEST(whole.members.size() == 1u);
  BOOST_TEST(whole.members[0].since > 0);
  auto& b = add("b");
  const auto shared = await_view(follower, [](const auto& view) {
    const auto all = owners_of(view);
    return all.size() == 12 && std::ranges::count_if(all, [](const auto& each) { return each.second == "b"; }) == 6;
  });
  BOOST_TEST(shared.members.size() == 2u);
  const auto asked = std::get<1>(run(b.group.async_view(tuple)));
  BOOST_TEST((owners_of(asked) == owners_of(shared)));
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_group_that_does_not_change_costs_nothing) {
  add("a");
  auto own = connect();
  shard_group_follower follower(own, "/g");
  const auto whole = await_view(follower, [](const auto& view) { return owns_all(view, "a"); });
  settle(own);
  const auto before = requests_of(own);
  recorder<shard_group_view> change(executor());
  follower.async_change(whole.revision, change.token());
  settle(zk());
  settle(zk());
  BOOST_TEST(requests_of(own) == before);
  change.cancel(asio::cancellation_type::terminal);
  BOOST_TEST_REQUIRE(run_until([&] { return change.done(); }));
  stop_all();
}

BOOST_AUTO_TEST_CASE(freezing_quarantine_and_absence_are_shown) {
  auto how = with("a");
  how.grace = std::chrono::seconds(60);
  auto& a = make(connect(), how);
  a.start();
  shard_group_follower follower(zk(), "/g");
  await_view(follower, [](const auto& view) { return owns_all(view, "a") && !view.is_frozen; });
  BOOST_TEST(!std::get<0>(run(a.group.async_freeze(true, tuple))));
  await_view(follower, [](const auto& view) { return view.is_frozen; });
  BOOST_TEST(!std::get<0>(run(a.group.async_freeze(false, tuple))));
  await_view(follower, [](const auto& view) { return !view.is_frozen; });
  create("/g/quarantine", "");  // comes with the first shard in quarantine
  create("/g/quarantine/0003", R"({"zkrecipes":"shard_quarantine","deaths":4,"last":"x"})");
  const auto view = await_view(follower, [](const auto& each) { return each.shards[3].is_in_quarantine; });
  BOOST_TEST(view.shards[3].quarantine.deaths == 4);
  BOOST_TEST(view.shards[3].quarantine.last_owner == "x");
  a.group.stop();
  const auto left = await_view(follower, [](const auto& each) { return each.away.size() == 1; });
  BOOST_TEST(left.away[0].id == "a");
  BOOST_TEST(left.away[0].since > 0);
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_missing_group_and_other_data_are_told_and_the_following_goes_on) {
  shard_group_follower follower(zk(), "/g");
  BOOST_TEST(std::get<0>(run(follower.async_change(0, tuple))) == errc::no_node);
  create("/g", "hello");
  wait([&] { return std::get<0>(run(follower.async_change(0, tuple))) == errc::foreign_data; });
  remove("/g");
  add("a");
  wait([&] { return !std::get<0>(run(follower.async_change(0, tuple))); });
  await_view(follower, [](const auto& view) { return owns_all(view, "a"); });
  stop_all();
}

BOOST_AUTO_TEST_CASE(it_goes_on_across_a_lost_connection) {
  add("a");
  auto far = connect_far();
  shard_group_follower follower(far, "/g");
  const auto whole = await_view(follower, [](const auto& view) { return owns_all(view, "a"); });
  disconnect(far);
  auto& b = add("b");
  wait([&] { return b.executing.size() == 6; });
  reconnect();
  await_view(follower, [](const auto& view) { return view.members.size() == 2 && owners_of(view).size() == 12; });
  BOOST_TEST(whole.members.size() == 1u);
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_follower_of_nothing_and_a_bad_interval) {
  shard_group_follower none;
  BOOST_TEST(std::get<0>(run(none.async_change(0, tuple))) == errc::closed);
  BOOST_CHECK_THROW(shard_group_follower(zk(), "/g", std::chrono::hours(2)), std::invalid_argument);
  BOOST_CHECK_THROW(shard_group_follower(zk(), "g"), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

// Routers follow who owns which shard.

namespace {

struct router_case : shard_case {
  shard_owner& add_at(const std::string& id, const std::string& address) {
    auto how = with(id);
    how.data = address;
    auto& last = make(connect(), how);
    last.start();
    return last;
  }
};

/// Whether the router knows for each shard the member that executes it.
bool agrees(const shard_router& router, const std::vector<shard_owner*>& members, std::uint32_t shards) {
  std::size_t right = 0;
  for (const auto* each : members) {
    for (const auto number : each->executing) {
      const auto route = router.owner(number);
      if (route && route->id == each->group.options().id) ++right;
    }
  }
  return right == shards;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shard_routers, router_case)

BOOST_AUTO_TEST_CASE(a_router_follows_the_group) {
  shard_router router(zk(), "/g");
  BOOST_TEST(!router.route("k"));
  auto& a = add_at("a", "10.0.0.1:80");
  BOOST_TEST(!std::get<0>(run(router.async_started(tuple))));
  wait([&] { return agrees(router, {&a}, 12); });
  BOOST_TEST(router.count() == 12u);
  const auto route = router.route("some key");
  BOOST_TEST_REQUIRE(route.has_value());
  BOOST_TEST(route->data == "10.0.0.1:80");
  BOOST_TEST(route->node == a.group.status().member);
  auto& b = add_at("b", "10.0.0.2:80");
  wait([&] { return b.executing.size() == 6 && agrees(router, {&a, &b}, 12); });
  a.group.drain();
  wait([&] { return agrees(router, {&b}, 12); });
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_map_that_is_no_map_is_told_and_replaced) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  {
    shard_router router(zk(), "/g");
    BOOST_TEST(!std::get<0>(run(router.async_started(tuple))));
    run(zk().async_set("/g/map", "no map", any_version, tuple));
    shard_router other(zk(), "/g");
    BOOST_TEST(std::get<0>(run(other.async_started(tuple))) == errc::foreign_data);
    auto& b = add("b");
    wait([&] { return b.executing.size() == 6 && agrees(other, {&a, &b}, 12) && agrees(router, {&a, &b}, 12); });
  }
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()
