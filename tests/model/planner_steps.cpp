// What a planner does.
#include <functional>

#include "moment.hpp"

namespace model {

void moment::planner_steps(int k) {
  begins(k);
  if (k > now_.epoch) return;
  looks(k);
  writes_inboxes(k);
}

/// It is elected. The planner before it goes on as long as it does not know.
void moment::begins(int k) {
  if (k != now_.epoch + 1) return;
  add("begins", k, now_.planners[k], true);
  steps_.back().after.epoch = k;
}

/// It looks at the inboxes and at the list of members. What it decides after the second look is one step with it, as
/// nobody else sees the difference.
void moment::looks(int k) {
  const auto& self = now_.planners[k];
  if (self.heir != unknown) return;
  const auto there = members_with(&member::has_node), listed = members_with(&member::inbox);
  if (!self.has_looked) {
    const auto seen = rules_.members_first ? there : listed;
    return add("takes its first look", k, planner{.has_looked = true, .seen = seen});
  }
  rules_.members_first ? chooses_heir(k, self.seen, listed) : chooses_heir(k, there, self.seen);
}

template <class Property>
member_set moment::members_with(Property what) const {
  member_set all = 0;
  for (int i = 0; i < how_.size.members; ++i) {
    if (std::invoke(what, now_.members[i])) all |= only(i);
  }
  return all;
}

/// The shard stays with the member whose inbox lists it, unless that one has ended, or shards are moved for the sake of
/// others.
void moment::chooses_heir(int k, member_set there, member_set listed) {
  if (there == 0) return add("sees no members", k, planner());
  const bool can_stay = (there & listed) != 0;
  for (int i = 0; i < how_.size.members; ++i) {
    if (!has(there, i)) continue;
    add("takes its second look, and chooses an owner", k, planner{.seen = there, .heir = i},
        can_stay && !has(listed, i));
  }
}

/// The heir's inbox is to list the shard, and no other one is.
bool moment::has_right_inbox(int k, int i) const {
  const auto& self = now_.planners[k];
  return !has(self.seen, i) || (now_.members[i].has_node() && now_.members[i].inbox == (i == self.heir));
}

void moment::writes_inboxes(int k) {
  if (now_.planners[k].heir == unknown) return;
  bool is_done = true;
  for (int i = 0; i < how_.size.members; ++i) {
    if (has_right_inbox(k, i)) continue;
    is_done = false;
    writes_inbox(k, i);
  }
  if (is_done) add("has nothing left to write", k, planner());
}

/// It forgets what it knows if the server refuses: another planner has begun, or the member has ended.
void moment::writes_inbox(int k, int i) {
  const bool is_fenced = k != now_.epoch && !rules_.unfenced_planner;
  if (is_fenced || !now_.members[i].has_node()) return add("is refused", k, planner());
  add("writes an inbox", k, now_.planners[k]);
  steps_.back().after.members[i].inbox = i == now_.planners[k].heir;
}

}  // namespace model
