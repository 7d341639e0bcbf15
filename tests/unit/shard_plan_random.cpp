// Plans of random groups. ZKRECIPES_PLAN_CASES=1000000 in the environment tries that many.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include <boost/test/unit_test.hpp>

#include "shards/plan.hpp"

using namespace zkrecipes::detail;

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
