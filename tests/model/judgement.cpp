#include "judgement.hpp"

#include <algorithm>

namespace model {

bool do_two_believe(const state& what) {
  const auto does = [](const member& each) { return each.believes() && each.is != life::asleep; };
  return std::ranges::count_if(what.members, does) > 1;
}

bool does_one_sleep_and_believe(const state& what) {
  return std::ranges::count_if(what.members, &member::believes) > 1;
}

/// The fence compares the version that the term knows with that of the record.
bool is_fence_broken(const state& what, const deviations& rules) {
  for (int i = 0; i < max_members; ++i) {
    const auto& each = what.members[i];
    const bool is_accepted = each.is_current || rules.is_unfenced;
    if (each.believes() && is_accepted && what.owner != i) return true;
  }
  return false;
}

bool is_settled(const state& what) {
  if (what.owner == no_owner) return false;
  const auto& owner = what.members[what.owner];
  const auto orders = std::ranges::count_if(what.members, &member::inbox);
  return owner.is == life::alive && owner.in_term && owner.order && owner.inbox && orders == 1;
}

bool is_somebody_there(const state& what) { return std::ranges::any_of(what.members, &member::has_node); }

}  // namespace model
