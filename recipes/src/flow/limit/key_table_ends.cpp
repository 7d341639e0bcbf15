// Which keys are forgotten. The heap notes each entry once, with an arrival time that can only have grown since. So the
// entry on top is the nearest to its end if its time is still the noted one, and is noted anew otherwise.
#include <algorithm>

#include "limit/key_table.hpp"

namespace zkrecipes::detail {

void key_table::list_end(node& which) {
  which.second.is_listed = true;
  ends_.push_back({which.second.arrival, &which});
  std::push_heap(ends_.begin(), ends_.end());
}

/// Takes the entry that is the nearest to its end out of the heap. Entries with waiters on the way leave the heap, too:
/// they are noted again when nobody waits for them any more.
key_table::node* key_table::take_first_end() {
  while (!ends_.empty()) {
    std::pop_heap(ends_.begin(), ends_.end());
    const auto [noted, which] = ends_.back();
    ends_.pop_back();
    auto& of = which->second;
    of.is_listed = false;
    if (of.waiting) continue;
    if (of.arrival == noted) return which;
    list_end(*which);
  }
  return nullptr;
}

/// Two for each new one, so that the table shrinks when fewer keys are in use.
void key_table::remove_past(ticks now) {
  for (int i = 0; i < 2 && !ends_.empty() && ends_.front().earliest <= now; ++i) {
    auto* which = take_first_end();
    if (!which) return;
    if (which->second.arrival > now) return list_end(*which);
    keys_.erase(keys_.find(which->first));
  }
}

/// False if somebody waits for each key.
bool key_table::forget_one(ticks now) {
  auto* which = take_first_end();
  if (!which) return false;
  if (which->second.arrival > now) ++counted_.evicted;
  keys_.erase(keys_.find(which->first));
  return true;
}

key_table::node& key_table::find_or_add(std::string_view key, ticks now) {
  const auto found = keys_.find(key);
  if (found != keys_.end()) return *found;
  remove_past(now);
  while (keys_.size() >= most_keys_ && forget_one(now)) {
  }
  auto& added = *keys_.emplace(std::string(key), entry{start_, nullptr}).first;
  list_end(added);
  return added;
}

}  // namespace zkrecipes::detail
