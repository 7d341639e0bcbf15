#include "moment.hpp"

#include <algorithm>
#include <functional>

namespace model {

// What a planner does.

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

const char* to_text(verdict what) {
  switch (what) {
    case verdict::holds: return "holds";
    case verdict::two_believe: return "two believe";
    case verdict::fence_fails: return "a write of another than the owner is accepted";
    case verdict::gets_stuck: return "gets stuck";
    case verdict::fence_holds: return "a sleeper believes, too, and the fence holds";
  }
  return "";
}

const std::vector<variant>& variants() {
  using enum verdict;
  static const std::vector<variant> all{
      {"protocol", "as it is", {}, holds},
      {"keeps_believing", "until the answer to the retirement", {.keeps_believing = true}, two_believe},
      {"forces_the_living", "without asking whether the owner has ended", {.forces_the_living = true}, two_believe},
      {"asks_too_early", "whether a member has ended, before the look", {.asks_too_early = true}, two_believe},
      {"claims_blindly", "without the version", {.claims_blindly = true}, two_believe},
      {"retires_blindly", "without the version", {.retires_blindly = true}, two_believe},
      {"takes_up_handed_over", "its own term, whose end is under way", {.takes_up_handed_over = true}, two_believe},
      {"reuses_names", "of a member that starts again", {.reuses_names = true}, two_believe},
      {"ignores_own_name", "in a record, if it is in no term", {.ignores_own_name = true}, gets_stuck},
      {"looks_only_by_order", "at no record that its inbox does not list", {.looks_only_by_order = true}, gets_stuck},
      {"pauses", "processes sleep: a documented limit", {.pauses = true}, fence_holds},
      {"pauses_unfenced", "and effects do not name the version", {.pauses = true, .is_unfenced = true}, fence_fails},
      {"unfenced_planner", "does not matter", {.unfenced_planner = true}, holds},
      {"members_first", "then the inboxes: does not matter", {.members_first = true}, holds},
  };
  return all;
}

const variant& variant_of(const std::string& name) { return *std::ranges::find(variants(), name, &variant::name); }

std::string to_text(const step& what) {
  return std::string(what.who) + " " + std::to_string(what.index) + " " + what.does;
}

std::vector<step> moment::steps() {
  for (int i = 0; i < how_.size.members; ++i) member_steps(i);
  for (int k = 0; k < how_.size.planners; ++k) planner_steps(k);
  return std::move(steps_);
}

void moment::add(const char* does, int i, const member& after, bool is_trouble) {
  steps_.push_back({"member", i, does, is_trouble, now_});
  steps_.back().after.members[i] = after;
}

void moment::add(const char* does, int k, const planner& after, bool is_trouble) {
  steps_.push_back({"planner", k, does, is_trouble, now_});
  steps_.back().after.planners[k] = after;
}

/// The record has another version: what members know of it is out of date, and writes that are under way from the
/// former version will be refused.
void moment::add_write(const char* does, int i, const member& after, int owner) {
  add(does, i, after);
  auto& next = steps_.back().after;
  next.owner = owner;
  next.is_over = false;
  for (auto& each : next.members) {
    each.is_current = false;
    each.late_claim = each.late_claim && rules_.claims_blindly;
    each.late_retirement = each.late_retirement && rules_.retires_blindly;
  }
}

}  // namespace model
