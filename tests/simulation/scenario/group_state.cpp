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
    is_news = note_member(what, each) || is_news;
    is_news = note_away(what, each) || is_news;
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
bool group_state::note_member(const entry& what, const change& each) {
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
                       before->is_draining == of.record->is_draining;
  return is_by_operator(what) || !is_same;
}

bool group_state::note_away(const entry& what, const change& each) {
  const auto id = child_of(group_paths().away(), each.path);
  if (id.empty()) return false;
  const auto note = each.type == kind::remove ? std::nullopt : detail::parse_away_record(each.data);
  away_.erase(id);
  if (note) away_[id] = {*note, in_.clock().now(), is_by_operator(what)};
  return true;
}

bool group_state::is_there(const std::string& name) const {
  const auto found = members_.find(name);
  return found != members_.end() && !found->second.gone;
}

bool group_state::gives_all(const std::string& name) const {
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

bool group_state::is_balanced() const {
  const auto owners = assigned();
  std::uint64_t sum = 0;
  for (const auto& [name, each] : members_) {
    if (!each.gone && !gives_all(name)) sum += each.record->capacity;
  }
  const std::uint64_t shards = shard_count - quarantines_.size();
  for (const auto& [name, each] : members_) {
    if (each.gone) continue;
    const auto held = static_cast<std::uint64_t>(std::ranges::count(owners, name));
    const std::uint64_t capacity = gives_all(name) ? 0 : each.record->capacity;
    if (sum == 0 || capacity == 0) {
      if (held > 0 && sum > 0) return false;
      continue;
    }
    const auto most = (shards * capacity + sum - 1) / sum;
    if (held < shards * capacity / sum || held > most) return false;
  }
  return true;
}

}  // namespace zkrecipes::simulation
