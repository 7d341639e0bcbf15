// Shards move to members that join, away from those that leave, and back.
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

BOOST_AUTO_TEST_SUITE_END()
