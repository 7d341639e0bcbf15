#include "shards/plan.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace zkrecipes::detail {

namespace {

struct share {
  std::uint64_t capacity = 0;
  std::uint64_t held = 0;  ///< With the pinned shards that it is to get, and without those that it is to give.
  std::uint64_t pinned = 0;
  std::uint64_t target = 0;
  bool is_fixed = false;             ///< The target is the number of its pinned shards, which is above its quota.
  std::uint64_t fraction = 0;        ///< What the target lacks of the quota, times the sum of all capacities.
  std::vector<std::size_t> movable;  ///< The shards that can be taken for others' shares, in ascending order.
  bool is_taker = false;
  bool is_giver = false;

  bool lacks() const { return held < target; }
  bool drains() const { return capacity == 0; }
};

/// A shard that can be taken from a member.
struct offer {
  bool is_drain = false;
  std::uint64_t excess = 0;  ///< What the member holds beyond its target at that moment.
  std::size_t from = 0;
  std::size_t shard = 0;
};

/// Members that drain come first, because what they give fills gaps that others would have to fill. Then the members
/// are brought down to their targets side by side.
bool comes_first(const offer& a, const offer& b) {
  return std::tuple(!a.is_drain, b.excess, a.from) < std::tuple(!b.is_drain, a.excess, b.from);
}

/// Whether the first share is to be given a shard before the second one: it lacks one, and the other does not, or it
/// will have less to do for its capacity.
bool is_needier(const share& a, const share& b) {
  if (a.lacks() != b.lacks()) return a.lacks();
  return (a.held + 1) * b.capacity < (b.held + 1) * a.capacity;
}

/// The shares while shards are given. Takers are ordered by what they need.
class share_book {
 public:
  explicit share_book(const plan_request& what) : what_(what) {
    add_members();
    add_shards();
    set_targets();
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      if (shares_[i].is_taker) takers_.push(i);
    }
  }

  bool has_takers() const { return !takers_.empty(); }
  bool is_lacking() const { return shares_[takers_.top()].lacks(); }
  std::vector<offer> offers() const;
  shard_move give(std::size_t shard, std::size_t from);
  /// The member that a shard is pinned to, if the pin counts.
  std::size_t pin_of(std::size_t shard) const;

 private:
  struct is_less_needy {
    bool operator()(std::size_t a, std::size_t b) const {
      if (is_needier((*all)[a], (*all)[b])) return false;
      return is_needier((*all)[b], (*all)[a]) || b < a;
    }
    const std::vector<share>* all;
  };

  void add_members();
  void add_shards();
  void set_targets();
  bool fix_pinned();
  std::uint64_t round_down();
  void round_up(std::uint64_t how_many);

  const plan_request& what_;
  std::vector<share> shares_;  // by member
  std::uint64_t assignable_ = 0;
  std::priority_queue<std::size_t, std::vector<std::size_t>, is_less_needy> takers_{is_less_needy{&shares_}};
};

void share_book::add_members() {
  for (const auto& each : what_.members) {
    share made;
    made.capacity = each.capacity;
    made.is_taker = !each.is_away && each.capacity > 0;
    made.is_giver = !each.is_away;
    shares_.push_back(std::move(made));
  }
}

void share_book::add_shards() {
  for (std::size_t shard = 0; shard < what_.owners.size(); ++shard) {
    if (what_.quarantined[shard]) continue;
    ++assignable_;
    const auto pin = pin_of(shard);
    const auto owner = pin == nobody ? what_.owners[shard] : pin;
    if (owner == nobody) continue;
    ++shares_[owner].held;
    if (pin != nobody) ++shares_[owner].pinned;
    if (pin == nobody && !what_.moving[shard]) shares_[owner].movable.push_back(shard);
  }
}

std::size_t share_book::pin_of(std::size_t shard) const {
  const auto to = what_.pinned.empty() ? nobody : what_.pinned[shard];
  if (to == nobody || !shares_[to].is_taker || what_.quarantined[shard]) return nobody;
  const auto owner = what_.owners[shard];
  return owner != nobody && what_.members[owner].is_away ? nobody : to;
}

void share_book::set_targets() {
  auto left = round_down();
  while (fix_pinned()) left = round_down();
  round_up(left);
}

/// Says whether there was a member with more pinned shards than its quota.
bool share_book::fix_pinned() {
  bool has_fixed = false;
  for (auto& each : shares_) {
    if (each.is_fixed || each.pinned <= each.target) continue;
    each.is_fixed = has_fixed = true;
    each.target = each.pinned;
    each.fraction = 0;
  }
  return has_fixed;
}

/// Returns how many shards are left over.
std::uint64_t share_book::round_down() {
  std::uint64_t capacity = 0;
  auto all = assignable_;
  for (const auto& each : shares_) {
    if (each.is_fixed) all -= each.pinned;
    if (!each.is_fixed) capacity += each.capacity;
  }
  if (capacity == 0) return 0;
  auto left = all;
  for (auto& each : shares_) {
    if (each.is_fixed) continue;
    each.target = all * each.capacity / capacity;
    each.fraction = all * each.capacity % capacity;
    left -= each.target;
  }
  return left;
}

/// There are more members with a fraction than shards left over.
void share_book::round_up(std::uint64_t how_many) {
  std::vector<share*> candidates;
  for (auto& each : shares_) {
    if (each.fraction > 0) candidates.push_back(&each);
  }
  std::ranges::stable_sort(candidates, [](const share* a, const share* b) {
    return std::tuple(a->held <= a->target, b->fraction) < std::tuple(b->held <= b->target, a->fraction);
  });
  for (std::size_t i = 0; i < how_many; ++i) ++candidates[i]->target;
}

std::vector<offer> share_book::offers() const {
  std::vector<offer> all;
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    const auto& each = shares_[i];
    if (!each.is_giver) continue;
    auto excess = each.held - std::min(each.held, each.target);
    for (auto shard = each.movable.rbegin(); shard != each.movable.rend() && excess > 0; ++shard, --excess)
      all.push_back({each.drains(), excess, i, *shard});
  }
  std::ranges::sort(all, comes_first);
  return all;
}

shard_move share_book::give(std::size_t shard, std::size_t from) {
  const auto to = takers_.top();
  takers_.pop();
  ++shares_[to].held;
  takers_.push(to);
  return {shard, from, to};
}

/// How many more shards may be taken from members.
std::size_t moves_left(const plan_request& what) {
  const auto moving = static_cast<std::size_t>(std::ranges::count(what.moving, true));
  return what.max_moves - std::min(what.max_moves, moving);
}

void assign_shards_of_nobody(const plan_request& what, share_book& book, std::vector<shard_move>& moves) {
  for (std::size_t shard = 0; shard < what.owners.size(); ++shard) {
    if (what.owners[shard] != nobody || what.quarantined[shard]) continue;
    const auto pin = book.pin_of(shard);
    moves.push_back(pin == nobody ? book.give(shard, nobody) : shard_move{shard, nobody, pin});
  }
}

void take_pinned(const plan_request& what, const share_book& book, std::size_t& left, std::vector<shard_move>& moves) {
  for (std::size_t shard = 0; shard < what.owners.size() && left > 0; ++shard) {
    const auto pin = book.pin_of(shard);
    const auto owner = what.owners[shard];
    if (pin == nobody || owner == nobody || owner == pin || what.moving[shard]) continue;
    moves.push_back({shard, owner, pin});
    --left;
  }
}

void take_from_members(const plan_request& what, share_book& book, std::vector<shard_move>& moves) {
  auto left = moves_left(what);
  take_pinned(what, book, left, moves);
  for (const auto& each : book.offers()) {
    const bool is_wanted = each.is_drain || book.is_lacking();
    if (left == 0 || !is_wanted) return;
    moves.push_back(book.give(each.shard, each.from));
    --left;
  }
}

}  // namespace

std::vector<shard_move> plan(const plan_request& what) {
  std::vector<shard_move> moves;
  share_book book(what);
  if (!book.has_takers()) return moves;
  assign_shards_of_nobody(what, book, moves);
  if (!what.frozen) take_from_members(what, book, moves);
  return moves;
}

}  // namespace zkrecipes::detail
