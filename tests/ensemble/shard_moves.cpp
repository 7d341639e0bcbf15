// Shards move to members that join, away from those that leave, and back.
#include <optional>

#include "ensemble/request_log.hpp"
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
  stop_all();
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
  stop_all();
}

BOOST_AUTO_TEST_CASE(shares_are_in_proportion_to_the_capacities) {
  auto how = with("b");
  how.capacity = 2;
  auto& b = make(connect(), how);
  b.start();
  auto& a = add("a");
  wait_shares({{&a, 4}, {&b, 8}});
  stop_all();
}

BOOST_AUTO_TEST_CASE(the_shards_of_an_expired_member_are_given_to_others) {
  auto& a = add_with_deadline("a");
  auto& b = add_with_deadline("b");
  wait_shares({{&a, 6}, {&b, 6}});
  cluster().expire(b.zk.status().session_id);
  wait([&] { return a.executing.size() == 12 || b.hand_overs.size() == 6; });
  wait_shares({{&a, 6}, {&b, 6}});  // it joins again
  stop_all();
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
  stop_all();
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
  stop_all();
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
  stop_all();
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
  stop_all();
}

// One of them can not be removed, because somebody has put a node below it.
BOOST_AUTO_TEST_CASE(many_notes_of_members_that_have_gone_are_removed_together) {
  shards = 1;
  request_log log;
  auto& a = make(connect(log.noted(options())), with("a"));
  a.start();
  wait_shares({{&a, 1}});
  stop_all();
  for (int i = 0; i < 300; ++i) {
    const auto id = "gone-" + std::to_string(i);
    create("/g/away/" + id, "{\"zkrecipes\":\"shard_away\",\"id\":\"" + id +
                                "\",\"node\":\"\",\"capacity\":1000,\"grace_ms\":0,\"own\":\"\"}");
  }
  create("/g/away/gone-7/below");
  log.clear();
  a.restart();
  wait([&] { return children("/g/away") == std::vector<std::string>{"gone-7"}; });
  BOOST_TEST(log.count("multi") < 100);
  stop_all();
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
  stop_all();
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
  stop_all();
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
  stop_all();
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
  stop_all();
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
  stop_all();
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
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_record_that_is_deleted_is_made_again_and_its_term_ends) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  remove("/g/shard/0005");
  wait([&] { return a.hand_overs.size() == 1; });
  BOOST_TEST(a.hand_overs[0].substr(0, 2) == "5 ");
  wait_shares({{&a, 12}});
  BOOST_TEST(view().shards[5].epoch == 1);
  stop_all();
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
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()
