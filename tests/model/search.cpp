#include "search.hpp"

#include <algorithm>
#include <numeric>

#include "judgement.hpp"

namespace model {

findings search::run() {
  all_.insert(pack(state(), how_.size));
  parents_.push_back(0);
  bool goes_on = true;
  for (number each = 0; goes_on && each < all_.size(); ++each) goes_on = explore(each);
  result_.states = all_.size();
  if (goes_on) find_stuck();
  return std::move(result_);
}

/// Returns whether to go on.
bool search::explore(number which) {
  const auto now = unpack(all_[which], how_.size);
  if (!judge(which, now)) return false;
  for (const auto& each : moment(how_, now).steps()) reach(which, each);
  result_.is_complete = all_.size() <= max_states_;
  return result_.is_complete;
}

void search::reach(number from, const step& what) {
  const auto [to, is_new] = all_.insert(pack(what.after, how_.size));
  if (is_new) parents_.push_back(from);
  if (!what.is_trouble) edges_.push_back({from, to});
  ++result_.steps;
}

/// Returns whether to go on. That a sleeper believes beside the owner is noted once: it is all right as long as the
/// fence holds.
bool search::judge(number which, const state& what) {
  if (is_fence_broken(what, how_.rules)) {
    note(verdict::fence_fails, which);
    return false;
  }
  if (do_two_believe(what)) {
    note(verdict::two_believe, which);
    return false;
  }
  if (result_.found == verdict::holds && does_one_sleep_and_believe(what)) note(verdict::fence_holds, which);
  return true;
}

void search::note(verdict what, number where) {
  result_.found = what;
  result_.history = history_of(where);
}

void search::find_stuck() {
  const auto leads = leading_to_settled();
  for (number each = 0; each < all_.size(); ++each) {
    const auto now = unpack(all_[each], how_.size);
    result_.settled += is_settled(now) ? 1 : 0;
    if (leads[each] || !is_somebody_there(now)) continue;
    if (result_.stuck++ == 0) note(verdict::gets_stuck, each);
  }
}

/// Goes backwards from the settled states. The edges are sorted by where they lead, so that those to a state stand
/// together.
std::vector<bool> search::leading_to_settled() const {
  std::vector<std::size_t> ends(all_.size() + 1);
  for (const auto& each : edges_) ++ends[each.to];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<number> sources(edges_.size());
  for (const auto& each : edges_) sources[--ends[each.to]] = each.from;  // now they are beginnings
  std::vector<bool> leads(all_.size());
  std::vector<number> reached;
  const auto reach = [&](number which) {
    if (leads[which]) return;
    leads[which] = true;
    reached.push_back(which);
  };
  for (number each = 0; each < all_.size(); ++each) {
    if (is_settled(unpack(all_[each], how_.size))) reach(each);
  }
  while (!reached.empty()) {
    const auto to = reached.back();
    reached.pop_back();
    for (auto i = ends[to]; i < ends[to + 1]; ++i) reach(sources[i]);
  }
  return leads;
}

std::vector<std::string> search::history_of(number which) const {
  std::vector<std::string> steps;
  for (; which != 0; which = parents_[which]) steps.push_back(last_step(which));
  std::ranges::reverse(steps);
  return steps;
}

std::string search::last_step(number which) const {
  const auto before = unpack(all_[parents_[which]], how_.size);
  const auto steps = moment(how_, before).steps();
  const auto taken =
      std::ranges::find(steps, all_[which], [&](const step& each) { return pack(each.after, how_.size); });
  return to_text(*taken);
}

}  // namespace model
