// Which member of a group is to own which shard: the moves of a plan.
#include <algorithm>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "planned_group.hpp"

using namespace zkrecipes::detail;

namespace {

std::size_t taken_from_members(const std::vector<shard_move>& moves) {
  return static_cast<std::size_t>(std::ranges::count_if(moves, [](const auto& each) { return each.from != nobody; }));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shard_plan)

BOOST_AUTO_TEST_CASE(the_first_plan_assigns_all_shards) {
  planned_group group(10);
  group.join_many(3);
  group.request.max_moves = 1;  // shards of nobody are not bounded
  const auto moves = group.move();
  BOOST_TEST(moves.size() == 10u);
  BOOST_TEST(taken_from_members(moves) == 0u);
  BOOST_TEST(group.held() == (shard_counts{4, 3, 3}));
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_CASE(a_join_moves_one_share_to_the_new_member_and_nothing_else) {
  for (std::size_t shards : {1, 7, 64, 256, 1000}) {
    planned_group group(shards);
    for (std::size_t members = 0; members < 40; ++members) {
      const auto joined = group.join();
      const auto moves = group.move();
      if (members == 0) continue;
      const auto share = shards / (members + 1);
      BOOST_TEST_CONTEXT(shards << " shards, " << members << " members and one more") {
        BOOST_TEST(moves.size() >= share);
        BOOST_TEST(moves.size() <= share + 1);
        BOOST_TEST(std::ranges::all_of(moves, [&](const auto& each) { return each.to == joined; }));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(shards_of_an_ended_member_go_to_the_others_and_nothing_else_moves) {
  planned_group group(12);
  group.join_many(4);
  group.move();
  group.end(1);
  const auto moves = group.move();
  BOOST_TEST(moves.size() == 3u);
  BOOST_TEST(taken_from_members(moves) == 0u);
  BOOST_TEST(group.held() == (shard_counts{4, 0, 4, 4}));
}

BOOST_AUTO_TEST_CASE(shares_are_in_proportion_to_the_capacities) {
  planned_group group(100);
  group.join(1000);
  group.join(500);
  group.join(2500);
  group.move();
  BOOST_TEST(group.held() == (shard_counts{25, 13, 62}));  // 25, 12.5, 62.5: the first of equal fractions is rounded up
  group.member(1).capacity = 1500;
  group.move();
  BOOST_TEST(group.held() == (shard_counts{20, 30, 50}));
}

BOOST_AUTO_TEST_CASE(a_quota_is_rounded_up_for_members_that_hold_more) {
  planned_group group(8);
  group.join_many(3);
  group.request.owners = {0, 0, 1, 1, 1, 2, 2, 2};
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_CASE(the_largest_capacities_do_not_overflow) {
  planned_group group(10'000);
  group.join(4'294'967'295);
  group.join(4'294'967'295);
  group.join(1);
  group.move();
  BOOST_TEST(group.held() == (shard_counts{5000, 5000, 0}));
}

BOOST_AUTO_TEST_CASE(a_member_that_drains_gives_everything) {
  planned_group group(9);
  group.join_many(3);
  group.move();
  group.member(0).capacity = 0;
  const auto moves = group.move();
  BOOST_TEST(moves.size() == 3u);
  BOOST_TEST(group.held() == (shard_counts{0, 5, 4}));
}

BOOST_AUTO_TEST_CASE(if_all_members_drain_nothing_moves) {
  planned_group group(4);
  group.join_many(2);
  group.request.owners = {0, 1, nobody, nobody};
  for (auto& each : group.request.members) each.capacity = 0;
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_CASE(members_that_drain_give_before_others_do) {
  planned_group group(12);
  group.join_many(3);
  group.request.owners = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1};
  group.member(1).capacity = 0;  // quotas: 6, 0, 6
  group.request.max_moves = 3;
  group.move();
  BOOST_TEST(group.held() == (shard_counts{9, 0, 3}));
  group.move();
  BOOST_TEST(group.held() == (shard_counts{6, 0, 6}));
}

BOOST_AUTO_TEST_CASE(while_a_member_is_away_its_shards_wait_for_it) {
  planned_group group(100);
  group.join_many(7);
  group.move();
  for (auto& each : group.request.members) {
    each.is_away = true;
    BOOST_TEST(group.move().empty());
    each.is_away = false;
    BOOST_TEST(group.move().empty());
  }
}

BOOST_AUTO_TEST_CASE(a_member_that_is_away_is_given_nothing) {
  planned_group group(9);
  group.join_many(3);
  group.member(2).is_away = true;
  group.request.owners = {0, 0, 0, 0, 0, 1, nobody, nobody, nobody};
  group.move();
  BOOST_TEST(group.held() == (shard_counts{5, 4, 0}));
  group.request.owners.assign(9, 2);
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_CASE(what_a_member_that_is_away_does_not_hold_is_shared_by_the_others) {
  planned_group group(8);
  group.join(1000);
  group.join(3000);
  group.join(4000);
  group.member(2).is_away = true;
  group.move();
  BOOST_TEST(group.held() == (shard_counts{2, 6, 0}));
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_CASE(a_member_that_drains_gives_everything_while_another_is_away) {
  planned_group group(9);
  group.join_many(3);
  group.member(1).is_away = true;
  group.request.owners = {0, 0, 0, 0, 0, 0, 0, 0, 0};
  group.member(0).capacity = 0;
  group.move();
  BOOST_TEST(group.held() == (shard_counts{0, 0, 9}));
}

BOOST_AUTO_TEST_CASE(if_all_members_are_away_shards_of_nobody_stay) {
  planned_group group(4);
  group.join_many(2);
  for (auto& each : group.request.members) each.is_away = true;
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_CASE(a_group_without_members_has_no_moves) {
  BOOST_TEST(plan(planned_group(4).request).empty());
  planned_group without_shards(0);
  without_shards.join();
  BOOST_TEST(without_shards.move().empty());
}

BOOST_AUTO_TEST_CASE(a_shard_in_quarantine_is_not_assigned_and_has_no_part_in_the_shares) {
  planned_group group(7);
  group.join_many(2);
  group.request.quarantined[2] = true;
  BOOST_TEST(group.move().size() == 6u);
  BOOST_TEST(group.request.owners[2] == nobody);
  BOOST_TEST(group.held() == (shard_counts{3, 3}));
  group.request.quarantined[2] = false;
  const auto moves = group.move();
  BOOST_REQUIRE(moves.size() == 1u);
  BOOST_TEST((moves[0] == shard_move{2, nobody, 0}));
}

BOOST_AUTO_TEST_CASE(a_frozen_plan_only_assigns_shards_of_nobody) {
  planned_group group(8);
  group.join_many(2);
  group.request.owners = {0, 0, 0, 0, 0, 0, nobody, nobody};
  group.request.frozen = true;
  BOOST_TEST(taken_from_members(group.move()) == 0u);
  BOOST_TEST(group.held() == (shard_counts{6, 2}));
  group.member(0).capacity = 0;
  BOOST_TEST(group.move().empty());
  group.request.frozen = false;
  BOOST_TEST(group.move().size() == 6u);
}

BOOST_AUTO_TEST_CASE(as_many_shards_move_at_once_as_are_allowed) {
  planned_group group(10);
  group.join();
  group.move();
  group.join();
  group.request.max_moves = 2;
  BOOST_TEST(group.move().size() == 2u);
  BOOST_TEST(group.move().size() == 2u);
  BOOST_TEST(group.move().size() == 1u);
  BOOST_TEST(group.move().empty());
  BOOST_TEST(group.held() == (shard_counts{5, 5}));
}

BOOST_AUTO_TEST_CASE(shards_that_are_moving_count_and_are_not_moved_again) {
  planned_group group(10);
  group.join_many(2);
  group.request.owners.assign(10, 0);
  for (std::size_t shard = 4; shard < 10; ++shard) group.request.moving[shard] = true;
  group.request.max_moves = 6;
  BOOST_TEST(group.move().empty());
  group.request.max_moves = 10;
  const auto moves = group.move();
  BOOST_TEST(moves.size() == 4u);
  BOOST_TEST(std::ranges::all_of(moves, [](const auto& each) { return each.shard < 4; }));
}

BOOST_AUTO_TEST_CASE(members_that_hold_more_are_brought_down_side_by_side) {
  planned_group group(12);
  group.join_many(3);
  group.request.owners = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  group.request.max_moves = 2;
  group.move();
  BOOST_TEST(group.held() == (shard_counts{5, 5, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
