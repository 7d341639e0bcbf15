#include "scenario/group_state.hpp"

#include <algorithm>

namespace zkrecipes::simulation {

using kind = change::kind;

std::string child_of(const std::string& parent, const std::string& path) {
  return parent_path(path) == parent ? std::string(last_name(path)) : std::string();
}

bool group_state::committed(const entry& what) {
  bool is_news = false;
  for (const auto& each : what.changes) {
    const auto& where = group_paths();
    if (each.type == kind::set_acl) continue;
    is_news = record_member(what, each) || is_news;
    is_news = record_away(what, each) || is_news;
    is_news = record_wish(each) || is_news;
    if (each.path == where.frozen()) {
      is_news = true;
      frozen_.reset();
      if (each.type != kind::remove) frozen_ = in_.clock().now();
    }
    const auto shard = detail::parse_shard_name(child_of(where.quarantines(), each.path));
    if (shard) is_news = true;
    if (shard && each.type == kind::create) quarantines_[*shard] = in_.clock().now();
    if (shard && each.type == kind::remove) quarantines_.erase(*shard);
    if (each.type != kind::set && !child_of(where.records(), each.path).empty()) is_news = true;
  }
  return is_news;
}

/// Orders alone are no news: they are what the planner has made of the news.
bool group_state::record_member(const entry& what, const change& each) {
  const auto name = child_of(group_paths().members(), each.path);
  if (name.empty()) return false;
  if (each.type == kind::create) {
    members_[name] = {each.owner, ++joined_, detail::parse_member_record(each.data), std::nullopt, in_.clock().now()};
    return true;
  }
  auto& of = members_[name];
  if (each.type == kind::remove) {
    of.gone = in_.clock().now();
    return true;
  }
  auto before = std::exchange(of.record, detail::parse_member_record(each.data));
  const bool is_same = before && of.record && before->id == of.record->id && before->capacity == of.record->capacity &&
                       before->is_draining == of.record->is_draining && before->failing == of.record->failing;
  return is_by_operator(what) || !is_same;
}

bool group_state::record_away(const entry& what, const change& each) {
  const auto id = child_of(group_paths().away(), each.path);
  if (id.empty()) return false;
  const auto note = each.type == kind::remove ? std::nullopt : detail::parse_away_record(each.data);
  away_.erase(id);
  if (note) away_[id] = {*note, in_.clock().now(), is_by_operator(what)};
  return true;
}

bool group_state::record_wish(const change& each) {
  const auto name = child_of(group_paths().notes(), each.path);
  if (name.empty()) return false;
  wishes_.erase(name);
  if (each.type != kind::remove) wishes_[name] = each.data;
  notes_ = {};
  for (const auto& [wish, data] : wishes_) notes_.add(wish, data);
  return true;
}

bool group_state::is_there(const std::string& name) const {
  const auto found = members_.find(name);
  return found != members_.end() && !found->second.gone;
}

/// Drains of an operator do not count if there would be no other member.
bool group_state::heeds_drains() const {
  return std::ranges::any_of(members_, [&](const auto& each) {
    const auto& [name, state] = each;
    return !state.gone && !is_leaving(name) && !notes_.drains.contains(state.record->id);
  });
}

bool group_state::gives_all(const std::string& name) const { return is_drained(name) || is_shunned(name); }

bool group_state::is_drained(const std::string& name) const {
  return is_leaving(name) || (notes_.drains.contains(members_.at(name).record->id) && heeds_drains());
}

/// Members that fail give all, unless they would be more than the others.
bool group_state::is_shunned(const std::string& name) const {
  if (members_.at(name).record->failing.empty()) return false;
  int active = 0;
  int shunned = 0;
  for (const auto& [other, state] : members_) {
    if (state.gone || is_drained(other)) continue;
    ++active;
    if (!state.record->failing.empty()) ++shunned;
  }
  return 2 * shunned <= active;
}

/// For a while, whose end only the planner knows.
bool group_state::is_returning(const std::string& name) const {
  const auto& record = members_.at(name).record;
  return record && record->orders.returns >= 2;
}

bool group_state::has_returning() const {
  return std::ranges::any_of(members_, [&](const auto& each) { return !each.second.gone && is_returning(each.first); });
}

bool group_state::is_leaving(const std::string& name) const {
  const auto& which = members_.at(name);
  if (!which.record || which.record->is_draining) return true;
  return std::ranges::any_of(members_, [&](const auto& each) {
    const auto& [other, state] = each;
    return !state.gone && state.record && state.record->id == which.record->id && state.number > which.number;
  });
}

bool group_state::has_joined(const std::string& id, instant since) const {
  return std::ranges::any_of(members_, [&](const auto& each) {
    const auto& state = each.second;
    return !state.gone && state.record && state.record->id == id && state.joined >= since;
  });
}

bool group_state::has_idle_successor(const detail::away_record& note) const {
  const auto writer = members_.find(note.node);
  if (writer == members_.end()) return false;
  return std::ranges::any_of(members_, [&](const auto& each) {
    const auto& state = each.second;
    const bool is_successor = !state.gone && state.record && state.record->id == note.id;
    const bool takes_nothing = is_successor && (gives_all(each.first) || is_returning(each.first));
    return takes_nothing && state.number > writer->second.number;
  });
}

bool group_state::has_taker() const {
  return std::ranges::any_of(members_, [&](const auto& each) { return !each.second.gone && !gives_all(each.first); });
}

of_shards<std::string> group_state::assigned() const {
  of_shards<std::string> all;
  of_shards<std::int64_t> plans{};
  for (const auto& [name, each] : members_) {
    if (each.gone || !each.record) continue;
    for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
      if (!each.record->orders.has(shard)) continue;
      if (!all[shard].empty() && plans[shard] >= each.record->orders.plan) continue;
      all[shard] = name;
      plans[shard] = each.record->orders.plan;
    }
  }
  return all;
}

bool group_state::has_doubles() const {
  std::size_t all = 0;
  for (const auto& [name, each] : members_) {
    for (std::uint32_t shard = 0; shard < shard_count && !each.gone && each.record; ++shard) {
      all += each.record->orders.has(shard) ? 1 : 0;
    }
  }
  const auto owners = assigned();
  return all != static_cast<std::size_t>(std::ranges::count_if(owners, [](const auto& each) { return !each.empty(); }));
}

/// The last member of an id; empty: there is none.
std::string group_state::member_of(const std::string& id) const {
  std::string last;
  for (const auto& [name, each] : members_) {
    const bool is_it = !each.gone && each.record && each.record->id == id;
    if (is_it && (last.empty() || members_.at(last).number < each.number)) last = name;
  }
  return last;
}

/// The member that each shard is pinned to, if that member can take it.
of_shards<std::string> group_state::pinned() const {
  of_shards<std::string> all;
  for (const auto& [shard, id] : notes_.pins) {
    if (shard >= shard_count || quarantines_.contains(shard)) continue;
    auto name = member_of(id);
    if (!name.empty() && !gives_all(name)) all[shard] = std::move(name);
  }
  return all;
}

bool group_state::is_balanced() const {
  const auto owners = assigned();
  const auto pins = pinned();
  for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
    if (!pins[shard].empty() && owners[shard] != pins[shard]) return false;
  }
  return are_shares_kept(owners, pins);
}

/// A member with more pinned shards than its share has just these, and the others share the rest.
bool group_state::are_shares_kept(const of_shards<std::string>& owners, const of_shards<std::string>& pins) const {
  std::map<std::string, std::uint64_t> capacities;
  std::uint64_t sum = 0;
  for (const auto& [name, each] : members_) {
    if (each.gone) continue;
    capacities[name] = gives_all(name) ? 0 : each.record->capacity;
    sum += capacities[name];
  }
  if (sum == 0) return true;
  std::uint64_t shards = shard_count - quarantines_.size();
  const auto count_in = [](const of_shards<std::string>& all, const std::string& name) {
    return static_cast<std::uint64_t>(std::ranges::count(all, name));
  };
  const auto has_more = [&](const auto& each) { return count_in(pins, each.first) * sum > shards * each.second; };
  for (auto found = std::ranges::find_if(capacities, has_more); found != capacities.end();
       found = std::ranges::find_if(capacities, has_more)) {
    const auto pinned_here = count_in(pins, found->first);
    if (count_in(owners, found->first) != pinned_here) return false;
    shards -= pinned_here;
    sum -= found->second;
    capacities.erase(found);
  }
  return std::ranges::all_of(capacities, [&](const auto& each) {
    const auto held = count_in(owners, each.first);
    if (each.second == 0 || sum == 0) return held == 0;
    return held >= shards * each.second / sum && held <= (shards * each.second + sum - 1) / sum;
  });
}

}  // namespace zkrecipes::simulation
