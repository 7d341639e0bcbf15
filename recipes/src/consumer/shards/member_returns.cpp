#include "shards/member_returns.hpp"

#include <algorithm>

namespace zkrecipes::detail {

namespace {

constexpr std::int64_t most_returns = 2;  // times that a member may come back
constexpr int longest_memory = 20;        // times `soon_`

}  // namespace

/// A member that an earlier planner has given orders has its number there.
member_returns::incarnation member_returns::join(const listed_member& member, lease_clock::time_point now) const {
  incarnation fresh{member.node, member.sequence, member.joined_ms, member.record.orders.returns};
  fresh.first_seen = now;
  const auto found = last_.find(member.record.id);
  if (found == last_.end() || member.record.orders.plan != 0) return fresh;
  const auto& before = found->second;
  const bool was_short = member.joined_ms - before.joined_ms < soon_.count();
  const bool was_in_vain = before.has_expected && !before.has_begun;
  fresh.returns = !before.is_orderly && (was_short || was_in_vain) ? before.returns + 1 : 0;
  return fresh;
}

void member_returns::look(std::vector<listed_member>& members, const std::vector<away_record>& away,
                          lease_clock::time_point now, lease_clock::time_point& next) {
  std::vector<listed_member*> all;
  for (auto& each : members) all.push_back(&each);
  std::ranges::sort(all, {}, [](const listed_member* each) { return each->sequence; });
  for (auto* each : all) {
    const auto& record = each->record;
    const auto found = last_.find(record.id);
    const bool is_known = found != last_.end() && found->second.sequence >= each->sequence;
    if (is_known && found->second.node != each->node) continue;  // one that has joined again since
    if (!is_known) last_[record.id] = join(*each, now);
    auto& known = last_[record.id];
    known.last_seen = now;
    known.has_begun = known.has_begun || !record.orders.own.empty();
    known.has_expected = known.has_expected || !record.orders.expect.empty();
    known.is_orderly = known.is_orderly || record.is_draining;
    each->record.orders.returns = known.returns;
    const auto until = known.first_seen + soon_;
    each->is_on_probation = known.returns >= most_returns && !known.has_begun && now < until;
    if (each->is_on_probation) next = std::min(next, until);
  }
  for (const auto& each : away) {
    const auto found = last_.find(each.id);
    if (found != last_.end() && found->second.node == each.node) found->second.is_orderly = true;
  }
  std::erase_if(last_, [&](const auto& each) { return now >= each.second.last_seen + longest_memory * soon_; });
}

}  // namespace zkrecipes::detail
