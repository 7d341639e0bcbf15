#include "shards/plan.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace zkrecipes::detail {

namespace {

struct share {
  std::uint64_t capacity = 0;
  std::uint64_t held = 0;
  std::uint64_t target = 0;
  std::uint64_t fraction = 0;        ///< What the target lacks of the quota, times the sum of all capacities.
  std::vector<std::size_t> movable;  ///< The shards that can be taken from the member, in ascending order.
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
    const auto owner = what_.owners[shard];
    if (owner == nobody) continue;
    ++shares_[owner].held;
    if (!what_.moving[shard]) shares_[owner].movable.push_back(shard);
  }
}

void share_book::set_targets() { round_up(round_down()); }

/// Returns how many shards are left over.
std::uint64_t share_book::round_down() {
  std::uint64_t capacity = 0;
  for (const auto& each : shares_) capacity += each.capacity;
  if (capacity == 0) return 0;
  auto left = assignable_;
  for (auto& each : shares_) {
    each.target = assignable_ * each.capacity / capacity;
    each.fraction = assignable_ * each.capacity % capacity;
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
    if (what.owners[shard] == nobody && !what.quarantined[shard]) moves.push_back(book.give(shard, nobody));
  }
}

void take_from_members(const plan_request& what, share_book& book, std::vector<shard_move>& moves) {
  auto left = moves_left(what);
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
