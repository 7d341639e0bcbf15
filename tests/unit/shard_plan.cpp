// Which member of a group is to own which shard: the moves of a plan.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "planned_group.hpp"
#include "shards/plan.hpp"

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

// Plans of random groups. ZKRECIPES_PLAN_CASES=1000000 in the environment tries that many.
namespace {

constexpr std::uint64_t normal_cases = 20'000;

std::uint64_t plan_cases() {
  const char* const wanted = std::getenv("ZKRECIPES_PLAN_CASES");
  return wanted ? std::stoull(wanted) : normal_cases;
}

/// Draws the request of one case.
class plan_dice {
 public:
  explicit plan_dice(std::uint64_t seed) : random_(seed) {}

  plan_request draw() {
    plan_request made;
    const auto members = below(one_in(10) ? 40 : 7);
    const auto shards = below(one_in(10) ? 200 : 25);
    const bool has_away = one_in(3), has_quarantine = one_in(3), has_moving = one_in(3);
    for (std::uint64_t i = 0; i < members; ++i) {
      auto name = "orders-" + std::to_string(1000 + i);
      made.members.push_back({std::move(name), capacity(), has_away && one_in(4)});
    }
    const bool has_pins = one_in(3);
    const auto pattern = below(4);
    for (std::uint64_t i = 0; i < shards; ++i) {
      const bool quarantined = has_quarantine && one_in(5);
      const auto owner = quarantined ? nobody : owner_of(i, members, pattern);
      made.owners.push_back(owner);
      made.quarantined.push_back(quarantined);
      made.moving.push_back(owner != nobody && has_moving && one_in(4));
    }
    if (has_pins && members > 0) {
      const auto favourite = below(members), rarity = 1 + below(8);
      for (std::uint64_t i = 0; i < shards; ++i) {
        const auto to = one_in(2) ? favourite : below(members);
        made.pinned.push_back(one_in(rarity) ? to : nobody);
      }
    }
    made.max_moves = one_in(2) ? shards + 1 : 1 + below(5);
    made.frozen = one_in(12);
    return made;
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool one_in(std::uint64_t cases) { return below(cases) == 0; }
  std::uint32_t capacity() {
    if (one_in(8)) return 0;
    if (one_in(4)) return static_cast<std::uint32_t>(1 + below(5000));
    return one_in(4) ? 2000 : 1000;
  }
  std::size_t owner_of(std::uint64_t shard, std::uint64_t members, std::uint64_t pattern) {
    if (members == 0 || pattern == 0) return nobody;
    if (pattern == 1) return one_in(10) ? nobody : shard % members;  // in equal shares
    if (pattern == 2) return below((members + 1) / 2);               // others have just joined
    return one_in(5) ? nobody : below(members);
  }

  std::mt19937_64 random_;
};

bool takes(const plan_member& member) { return !member.is_away && member.capacity > 0; }

/// The member that a shard is pinned to, if the pin counts.
std::size_t pin_in_force(const plan_request& what, std::size_t shard) {
  const auto to = what.pinned.empty() ? nobody : what.pinned[shard];
  const auto owner = what.owners[shard];
  const bool waits = owner != nobody && what.members[owner].is_away;
  return to == nobody || waits || what.quarantined[shard] || !takes(what.members[to]) ? nobody : to;
}

/// What the plans of a request are to achieve, found in another way than the plan does.
struct plan_aim {
  explicit plan_aim(const plan_request& what) : held(what.members.size()), pins(held), floors(held) {
    for (std::size_t i = 0; i < what.owners.size(); ++i) count(what, i);
    for (const auto& each : what.members) capacity += each.capacity;
    is_rounded.resize(held.size());
    auto rest = assignable, rest_of_capacity = capacity;
    for (const auto i : by_pins(what)) {
      const auto& own = what.members[i].capacity;
      const bool is_fixed = pins[i] * rest_of_capacity > rest * own;
      if (is_fixed) {
        floors[i] = pins[i];
        rest -= pins[i];
        rest_of_capacity -= own;
      } else if (rest_of_capacity > 0) {
        while ((floors[i] + 1) * rest_of_capacity <= rest * own) ++floors[i];
        is_rounded[i] = floors[i] * rest_of_capacity != rest * own;
      }
    }
  }

  /// A shard that is pinned counts as held by its member.
  void count(const plan_request& what, std::size_t shard) {
    const auto pin = pin_in_force(what, shard);
    const auto owner = what.owners[shard];
    assignable += what.quarantined[shard] ? 0 : 1;
    if (pin != nobody) ++pins[pin];
    if (pin != nobody && owner != nobody && owner != pin) ++ordered;
    if (pin != nobody || owner != nobody) ++held[pin != nobody ? pin : owner];
  }

  /// The members, those first that have the most pinned shards for their capacity: if those are no more than the quota
  /// of one, they are no more than that of all others behind it.
  std::vector<std::size_t> by_pins(const plan_request& what) const {
    std::vector<std::size_t> all(held.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::ranges::stable_sort(all, [&](std::size_t a, std::size_t b) {
      const std::uint64_t capacity_of_a =
          std::max(what.members[a].capacity, 1U);  // without a capacity there are no pins
      const std::uint64_t capacity_of_b = std::max(what.members[b].capacity, 1U);
      return pins[a] * capacity_of_b > pins[b] * capacity_of_a;
    });
    return all;
  }

  /// A member that holds more than its quota, rounded down, has to give the rest, unless its quota is rounded up: as
  /// many are as there are shards left over when all are rounded down. Pinned shards have to go to their members.
  std::uint64_t least_moves() const {
    std::uint64_t moves = ordered, excused = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      moves += held[i] - std::min(held[i], floors[i]);
      excused += held[i] > floors[i] && is_rounded[i] ? 1 : 0;
    }
    const auto rounded_down = std::accumulate(floors.begin(), floors.end(), std::uint64_t{0});
    return moves - std::min(excused, assignable - rounded_down);
  }

  bool is_reached_by(std::size_t member, std::uint64_t count) const {
    return count == floors[member] || (is_rounded[member] && count == floors[member] + 1);
  }

  std::uint64_t assignable = 0;
  std::uint64_t capacity = 0;
  std::uint64_t ordered = 0;                      // pinned shards that others have
  std::vector<std::uint64_t> held, pins, floors;  // by member
  std::vector<bool> is_rounded;                   // by member: the quota is not a whole number
};

/// Plans until nothing moves, and notes the first rule that is broken.
class plan_trial {
 public:
  explicit plan_trial(plan_request what) : now_(std::move(what)), aim_(now_) {
    for (const auto& each : now_.members) {
      has_taker_ |= takes(each);
      has_away_ |= each.is_away;
    }
  }

  /// Returns what is wrong.
  std::string run() {
    for (std::size_t rounds = 0;; ++rounds) {
      const auto moves = plan(now_);
      check(moves);
      if (plan(now_) != moves) complain("the same request has other moves");
      if (rounds > now_.owners.size() + 1) complain("it does not end");
      if (!complaint_.empty()) return complaint_;
      const bool was_moving = std::ranges::count(now_.moving, true) > 0;
      apply(moves);
      if (moves.empty() && !was_moving) break;
      if (is_unbounded_ && !was_moving && !plan(now_).empty()) complain("a plan without a bound left something over");
    }
    check_end();
    return complaint_;
  }

 private:
  void complain(const std::string& why) {
    if (complaint_.empty()) complaint_ = why;
  }

  void check(const std::vector<shard_move>& moves) {
    std::set<std::size_t> shards;
    std::size_t taken = 0;
    for (const auto& each : moves) {
      check(each);
      if (!shards.insert(each.shard).second) complain("a shard moves twice in one plan");
      taken += each.from != nobody ? 1 : 0;
    }
    check_assigned(shards);
    const auto moving = static_cast<std::size_t>(std::ranges::count(now_.moving, true));
    is_unbounded_ = moving == 0 && taken < now_.max_moves;
    if (taken > 0 && moving + taken > now_.max_moves) complain("too many shards are moving at once");
    if (taken > 0 && now_.frozen) complain("a frozen plan takes shards from members");
  }

  void check(const shard_move& move) {
    if (now_.owners[move.shard] != move.from) complain("a shard is taken from a member that does not have it");
    if (now_.quarantined[move.shard]) complain("a shard in quarantine is assigned");
    if (!takes(now_.members[move.to])) complain("a shard is given to a member that drains or is away");
    const auto pin = pin_in_force(now_, move.shard);
    if (pin != nobody && move.to != pin) complain("a pinned shard is given to another member");
    if (move.from == nobody) return;
    if (now_.moving[move.shard]) complain("a shard that is moving is moved again");
    if (moved_.contains(move.shard)) complain("a shard is moved in two plans");
    if (now_.members[move.from].is_away) complain("a shard is taken from a member that is away");
    if (move.from == move.to) complain("a shard moves to the member that has it");
  }

  void check_assigned(const std::set<std::size_t>& shards) {
    for (std::size_t i = 0; i < now_.owners.size(); ++i) {
      const bool is_free = now_.owners[i] == nobody && !now_.quarantined[i];
      if (is_free && shards.contains(i) != has_taker_) complain("a shard of nobody stays, or somebody is given it");
    }
  }

  /// All that was moving arrives.
  void apply(const std::vector<shard_move>& moves) {
    for (const auto& each : moves) {
      now_.owners[each.shard] = each.to;
      moved_.insert(each.shard);
      taken_ += each.from != nobody ? 1 : 0;
    }
    now_.moving.assign(now_.moving.size(), false);
  }

  void check_end() {
    const plan_aim end(now_);
    if (!has_taker_ || now_.frozen) {
      if (taken_ > 0) complain("shards are taken from members for nothing");
      return;
    }
    if (taken_ > aim_.least_moves()) complain("more moves than are needed");
    if (end.ordered > 0) complain("a pinned shard is not with its member");
    bool is_short = false, is_over = false;
    for (std::size_t i = 0; i < now_.members.size(); ++i) {
      const auto& member = now_.members[i];
      if (member.is_away) continue;
      if (member.capacity == 0 && end.held[i] > 0) complain("a member that drains has something left");
      if (!has_away_ && !aim_.is_reached_by(i, end.held[i])) complain("a member holds more or less than its share");
      is_short |= end.held[i] < aim_.floors[i];
      is_over |= end.held[i] > aim_.floors[i] + 1;
    }
    if (is_short && is_over) complain("one member has too much, and another too little");
  }

  plan_request now_;
  plan_aim aim_;
  bool has_taker_ = false;
  bool has_away_ = false;
  bool is_unbounded_ = false;    // the last plan was not cut short
  std::set<std::size_t> moved_;  // shards
  std::uint64_t taken_ = 0;      // moves from members
  std::string complaint_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(shard_plan_of_random_groups)

BOOST_AUTO_TEST_CASE(plans_are_balanced_minimal_bounded_and_end) {
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= plan_cases() && wrong < 10; ++seed) {
    const auto complaint = plan_trial(plan_dice(seed).draw()).run();
    wrong += complaint.empty() ? 0 : 1;
    BOOST_CHECK_MESSAGE(complaint.empty(), "seed " << seed << ": " << complaint);
  }
}

BOOST_AUTO_TEST_SUITE_END()
