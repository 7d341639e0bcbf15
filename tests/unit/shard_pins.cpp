// Plans of groups with pinned shards.
#include <algorithm>

#include <boost/test/unit_test.hpp>

#include "planned_group.hpp"

using namespace zkrecipes::detail;

BOOST_AUTO_TEST_SUITE(shard_pins)

BOOST_AUTO_TEST_CASE(a_pinned_shard_goes_to_its_member_and_another_comes_back_for_it) {
  planned_group group(9);
  group.join_many(3);
  group.request.owners = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  group.request.pinned.assign(9, nobody);
  group.request.pinned[4] = 2;
  const auto moves = group.move();
  BOOST_REQUIRE(moves.size() == 2u);
  BOOST_TEST((moves[0] == shard_move{4, 1, 2}));
  BOOST_TEST((moves[1] == shard_move{8, 2, 1}));
  BOOST_TEST(group.held() == (shard_counts{3, 3, 3}));
  BOOST_TEST(group.move().empty());
  group.request.pinned[4] = nobody;  // it stays where it is
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_CASE(pinned_shards_beyond_a_quota_are_kept_and_the_others_share_the_rest) {
  planned_group group(9);
  group.join_many(3);
  group.move();
  group.request.pinned = {0, 0, 0, 0, 0, nobody, nobody, nobody, nobody};
  group.move();
  BOOST_TEST(group.held() == (shard_counts{5, 2, 2}));
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_CASE(pinned_shards_move_first_and_within_the_bound) {
  planned_group group(10);
  group.join_many(2);
  group.request.owners.assign(10, 0);
  group.request.pinned.assign(10, nobody);
  for (std::size_t shard : {1, 2, 3}) group.request.pinned[shard] = 1;
  group.request.max_moves = 2;
  const auto first = group.move();
  BOOST_REQUIRE(first.size() == 2u);
  BOOST_TEST((first[0] == shard_move{1, 0, 1}));
  BOOST_TEST((first[1] == shard_move{2, 0, 1}));
  group.request.moving[3] = true;  // it is on its way to member 0
  const auto second = group.move();
  BOOST_REQUIRE(second.size() == 1u);
  BOOST_TEST((second[0] == shard_move{9, 0, 1}));
}

BOOST_AUTO_TEST_CASE(a_pin_does_not_count_while_its_member_can_not_take_the_shard) {
  planned_group group(6);
  group.join_many(3);
  group.move();
  group.request.pinned.assign(6, nobody);
  group.request.pinned[0] = 1;
  group.member(1).is_away = true;
  BOOST_TEST(group.move().empty());
  group.member(1).is_away = false;
  group.request.frozen = true;
  BOOST_TEST(group.move().empty());
  group.request.frozen = false;
  group.request.quarantined[0] = true;
  group.request.owners[0] = nobody;
  BOOST_TEST(std::ranges::none_of(group.move(), [](const auto& each) { return each.shard == 0; }));
  group.request.quarantined[0] = false;
  group.member(1).capacity = 0;
  BOOST_TEST(std::ranges::all_of(group.move(), [](const auto& each) { return each.to != 1; }));
  BOOST_TEST(group.held()[1] == 0u);
}

BOOST_AUTO_TEST_CASE(a_shard_that_waits_for_its_member_is_not_given_to_another_by_a_pin) {
  planned_group group(4);
  group.join_many(2);
  group.move();
  const auto owner = group.request.owners[0];
  group.request.pinned = {1 - owner, nobody, nobody, nobody};
  group.member(owner).is_away = true;
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_SUITE_END()
