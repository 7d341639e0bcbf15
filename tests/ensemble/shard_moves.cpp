// Shards move to members that join, away from those that leave, and back.
#include <map>
#include <optional>

#include <zkrecipes/consumer/shard_group_follower.hpp>
#include <zkrecipes/consumer/shard_router.hpp>

#include "ensemble/shard_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(shard_moves, shard_case)

BOOST_AUTO_TEST_CASE(one_member_owns_all) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  const auto seen = view();
  BOOST_TEST(seen.count == 12u);
  BOOST_TEST_REQUIRE(seen.members.size() == 1u);
  BOOST_TEST(seen.members[0].id == "a");
  BOOST_TEST(seen.members[0].shards.size() == 12u);
  BOOST_TEST(a.group.status().is_planner);
  stop_all();
  BOOST_TEST(a.hand_overs.size() == 12u);
}

BOOST_AUTO_TEST_CASE(members_that_join_together_share_from_the_beginning) {
  auto& a = add("a");
  auto& b = add("b");
  auto& c = add("c");
  wait_shares({{&a, 4}, {&b, 4}, {&c, 4}});
  for (const auto& each : view().shards) BOOST_TEST(each.epoch == 1);
}

BOOST_AUTO_TEST_CASE(a_join_moves_no_more_than_the_share_of_the_new_member) {
  auto& a = add("a");
  auto& b = add("b");
  wait_shares({{&a, 6}, {&b, 6}});
  auto& c = add("c");
  wait_shares({{&a, 4}, {&b, 4}, {&c, 4}});
  std::int64_t moves = 0;
  for (const auto& each : view().shards) moves += each.epoch - 1;
  BOOST_TEST(moves == 4);
  BOOST_TEST(a.hand_overs.size() == 2u);
  BOOST_TEST(b.hand_overs.size() == 2u);
}

BOOST_AUTO_TEST_CASE(shares_are_in_proportion_to_the_capacities) {
  auto how = with("b");
  how.capacity = 2;
  auto& b = make(connect(), how);
  b.start();
  auto& a = add("a");
  wait_shares({{&a, 4}, {&b, 8}});
}

BOOST_AUTO_TEST_CASE(the_shards_of_an_expired_member_are_given_to_others) {
  auto& a = add_with_deadline("a");
  auto& b = add_with_deadline("b");
  wait_shares({{&a, 6}, {&b, 6}});
  cluster().expire(b.zk.status().session_id);
  wait([&] { return a.executing.size() == 12 || b.hand_overs.size() == 6; });
  wait_shares({{&a, 6}, {&b, 6}});  // it joins again
}

BOOST_AUTO_TEST_CASE(tokens_grow_from_owner_to_owner) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  auto& b = add("b");
  wait_shares({{&a, 6}, {&b, 6}});
  for (const auto& [number, token] : b.tokens) {
    BOOST_TEST(b.epochs[number] == 2);
    BOOST_TEST(token > a.tokens[number]);
  }
}

BOOST_AUTO_TEST_CASE(a_member_that_drains_gives_everything_away_in_order_and_leaves) {
  auto& a = add("a");
  auto& b = add("b");
  wait_shares({{&a, 6}, {&b, 6}});
  b.group.drain();
  wait_ended(b);
  BOOST_TEST(b.hand_overs.size() == 6u);
  wait_shares({{&a, 12}});
  const auto seen = view();
  BOOST_TEST(seen.members.size() == 1u);
  BOOST_TEST(seen.away.empty());
  for (const auto& each : seen.shards) BOOST_TEST((each.how == takeover::first || each.how == takeover::clean));
}

BOOST_AUTO_TEST_CASE(the_last_member_that_drains_leaves_its_shards_to_nobody) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  a.group.drain();
  wait_ended(a);
  BOOST_TEST(a.hand_overs.size() == 12u);
  for (const auto& each : view().shards) BOOST_TEST(each.phase == term_phase::retired);
}

BOOST_AUTO_TEST_CASE(a_member_that_restarts_within_its_grace_gets_its_own_back) {
  auto how = with("b");
  how.grace = 60s;
  auto& a = add("a");
  auto& b = make(connect(), how);
  b.start();
  wait_shares({{&a, 6}, {&b, 6}});
  const auto before = b.executing;
  b.group.stop();
  wait_ended(b);
  BOOST_TEST(view().away.size() == 1u);
  b.restart();
  wait_shares({{&a, 6}, {&b, 6}});
  BOOST_TEST(b.executing == before, boost::test_tools::per_element());
  BOOST_TEST(a.hand_overs.empty());
  wait([&] { return view().away.empty(); });
}

BOOST_AUTO_TEST_CASE(and_after_its_grace_they_are_given_to_others) {
  auto how = with("b");
  how.grace = 100ms;
  auto& a = add("a");
  auto& b = make(connect(), how);
  b.start();
  wait_shares({{&a, 6}, {&b, 6}});
  b.group.stop();
  wait_ended(b);
  wait_shares({{&a, 12}});
  wait([&] { return view().away.empty(); });
}

BOOST_AUTO_TEST_SUITE_END()

// What somebody else removes or edits of a shard group is put right.
BOOST_FIXTURE_TEST_SUITE(shard_healing, shard_case)

BOOST_AUTO_TEST_CASE(nobodys_work_stops_because_the_planners_record_is_garbled) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  overwrite("/g/_planner", "not ours");
  auto& b = add("b");  // the planner notices when it plans
  wait([&] { return a.group.status().planner_error == errc::foreign_data; });
  wait_ended(b, errc::foreign_data);
  BOOST_TEST(a.executing.size() == 12u);
  overwrite("/g/_planner", "");
  b.restart();
  wait_shares({{&a, 6}, {&b, 6}});
  wait([&] { return !a.group.status().planner_error; });
}

BOOST_AUTO_TEST_CASE(a_record_that_is_garbled_is_emptied_and_its_shard_goes_on) {
  std::optional<term> last;
  auto& a = make("a");
  a.on_make = [&](const shard& which, career& does) {
    if (which.number != 5) return;
    does.on_execute = [&](term present) -> asio::awaitable<void> {
      last = present;
      co_await present.async_ending(tuple);
    };
  };
  a.start();
  wait_shares({{&a, 12}});
  const auto path = "/g/shard/0005";
  const auto before = get(path).stat.version;
  overwrite(path, "not ours");
  create("/effect");
  auto old = *last;
  BOOST_TEST(std::get<0>(run(old.async_commit(transaction().set("/effect", "x"), tuple))) == errc::superseded);
  wait([&] { return last->token() > old.token(); });
  wait_shares({{&a, 12}});
  BOOST_TEST(get(path).stat.version > before + 1);
  last.reset();
  remove("/effect");
  stop_all();
}

BOOST_AUTO_TEST_CASE(what_a_member_tells_of_itself_is_put_right) {
  auto& a = add("a");
  auto& b = add("b");
  wait_shares({{&a, 6}, {&b, 6}});
  const auto path = "/g/member/" + b.group.status().member;
  const auto present = get(path).data;
  for (const auto& [from, to] : {std::pair{"\"active\"", "\"draining\""}, {"\"capacity\":1000", "\"capacity\":0"}}) {
    auto edited = present;
    const auto at = edited.find(from);
    BOOST_TEST_REQUIRE(at != edited.npos);
    edited.replace(at, std::string(from).size(), to);
    overwrite(path, edited);
    wait([&] { return get(path).data.find(from) != std::string::npos; });
    wait_shares({{&a, 6}, {&b, 6}});
  }
}

BOOST_AUTO_TEST_CASE(a_group_that_is_removed_begins_anew) {
  auto& a = add("a");
  auto& b = add("b");
  wait_shares({{&a, 6}, {&b, 6}});
  const auto before = a.group.status().member;
  const auto error = std::get<0>(run(zk().async_remove_with_children("/g", tuple)));
  BOOST_TEST((!error || error == errc::not_empty), error.message());  // some of it may be made again already
  wait([&] { return a.group.status().member != before && !a.group.status().member.empty(); });
  wait_shares({{&a, 6}, {&b, 6}});
  BOOST_TEST(!a.ended.done());
  BOOST_TEST(!b.ended.done());
}

BOOST_AUTO_TEST_CASE(a_map_that_is_removed_or_edited_is_written_again) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  const auto is_there = [&] {
    const auto [error, found] = run(zk().async_get("/g/map", tuple));
    return !error && found.data.find("\"own\":\"0-11\"") != std::string::npos;
  };
  wait(is_there);
  remove("/g/map");
  wait(is_there);
  overwrite("/g/map", "not ours");
  wait(is_there);
}

BOOST_AUTO_TEST_CASE(a_planner_that_may_not_read_says_so) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  stop_all();
  const acl unreadable{{perm_write | perm_create | perm_delete | perm_admin, "world", "anyone"}};
  BOOST_TEST(!std::get<0>(run(zk().async_set_acl("/g/away", unreadable, any_version, tuple))));
  a.restart();
  wait([&] { return a.group.status().planner_error == errc::no_auth; });
  BOOST_TEST(!std::get<0>(run(zk().async_set_acl("/g/away", open_acl(), any_version, tuple))));
  wait_shares({{&a, 12}});
  BOOST_TEST(!a.group.status().planner_error);
}

BOOST_AUTO_TEST_CASE(orders_that_somebody_else_has_written_are_put_right) {
  auto& a = add("a");
  auto& b = add("b");
  wait_shares({{&a, 6}, {&b, 6}});
  const auto path = "/g/member/" + b.group.status().member;
  run(zk().async_set(path,
                     "{\"zkrecipes\":\"shard_member\",\"id\":\"b\",\"capacity\":1000,\"state\":\"active\","
                     "\"plan\":1,\"own\":\"0-11\"}",
                     any_version, tuple));
  wait([&] {
    const auto all = view();
    return all.members[0].shards.size() == 6 && all.members[1].shards.size() == 6;
  });
  wait_shares({{&a, 6}, {&b, 6}});
}

BOOST_AUTO_TEST_CASE(a_record_that_is_deleted_is_made_again_and_its_term_ends) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  remove("/g/shard/0005");
  wait([&] { return a.hand_overs.size() == 1; });
  BOOST_TEST(a.hand_overs[0].substr(0, 2) == "5 ");
  wait_shares({{&a, 12}});
  BOOST_TEST(view().shards[5].epoch == 1);
}

BOOST_AUTO_TEST_CASE(a_member_whose_node_is_deleted_joins_again) {
  auto& a = add_with_deadline("a");
  auto& b = add_with_deadline("b");
  wait_shares({{&a, 6}, {&b, 6}});
  const auto node = b.group.status().member;
  remove("/g/member/" + node);
  wait([&] { return b.hand_overs.size() == 6; });
  wait_shares({{&a, 6}, {&b, 6}});
  BOOST_TEST(b.group.status().member != node);
  BOOST_TEST(b.hand_overs[0].find("lost") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

// A follower shows a shard group as it is, without asking.
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
}

BOOST_AUTO_TEST_CASE(a_group_that_does_not_change_costs_nothing) {
  add("a");
  auto own = connect();
  shard_group_follower follower(own, "/g");
  const auto whole = await_view(follower, [](const auto& view) { return owns_all(view, "a"); });
  settle(own);
  const auto before = requests_of(own);
  auto change = follower.async_change(whole.revision, recorded());
  settle(zk());
  settle(zk());
  BOOST_TEST(requests_of(own) == before);
  change.cancel(asio::cancellation_type::terminal);
  BOOST_TEST_REQUIRE(run_until([&] { return change.done(); }));
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
