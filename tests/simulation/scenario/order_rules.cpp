#include "scenario/order_rules.hpp"

#include <algorithm>

#include "election/term_record.hpp"

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

using kind = change::kind;

/// A planner may not have heard yet of what has happened for less time than this.
bool order_rules::is_over(instant since) const {
  return in_.clock().now() - since > in_.what().longest_ignorance() + 1s;
}

std::map<std::string, detail::shard_orders> order_rules::orders() const {
  std::map<std::string, detail::shard_orders> all;
  for (const auto& [name, each] : state_.members()) {
    if (each.record) all[name] = each.record->orders;
  }
  return all;
}

void order_rules::committed(const entry& what) {
  record_planner(what);
  const bool writes_members = std::ranges::any_of(what.changes, [](const change& each) {
    return each.type == kind::set && !child_of(group_paths().members(), each.path).empty();
  });
  const auto before = state_.assigned();
  was_balanced_ = state_.is_balanced() && !state_.has_doubles() && state_.away().empty() && is_over(last_news_) &&
                  !state_.has_returning();
  had_ = writes_members ? orders() : std::map<std::string, detail::shard_orders>();
  const bool is_news = state_.committed(what);
  record_departures(what, before);
  if (is_news) {
    last_news_ = in_.clock().now();
    moves_.fill(0);
  }
  std::erase_if(way_, [&](const auto& each) { return !state_.is_there(each.second.to); });
  if (writes_members && is_by_operator(what)) tampered_ = in_.clock().now();
  for (const auto& each : what.changes) {
    const bool is_member = each.type == kind::set && !child_of(group_paths().members(), each.path).empty();
    if (is_member) in_.notes().note(journal::ensemble, "orders", each.data);
  }
  if (!writes_members) return;
  const auto after = state_.assigned();
  std::erase_if(way_, [&](const auto& each) { return before[each.first] != after[each.first]; });
  if (is_by_operator(what)) return;
  check_writer(what);
  if (restores(what)) return;
  for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
    if (before[shard] != after[shard]) check_change(shard, before[shard], after[shard]);
  }
}

int order_rules::client_of(std::int64_t session) const {
  const auto found = clients_.find(session);
  return found == clients_.end() ? -1 : found->second;
}

/// Which shards are to wait for those that have stopped: those that were theirs, as their orders said in the end.
void order_rules::record_departures(const entry& what, const of_shards<std::string>& before) {
  for (const auto& each : what.changes) {
    const auto id = child_of(group_paths().away(), each.path);
    const auto note = id.empty() || each.type == kind::remove ? std::nullopt : detail::parse_away_record(each.data);
    if (!note) continue;
    auto& kept = kept_[id];
    kept.clear();
    for (const auto shard : note->own) {
      const auto& owner = shard < shard_count ? before[shard] : std::string();
      const auto known = state_.members().find(owner);
      if (known != state_.members().end() && known->second.record && known->second.record->id == id) kept.insert(shard);
    }
  }
}

/// The planner is the leader of the planners' election: the client that has begun its present term.
void order_rules::record_planner(const entry& what) {
  for (const auto& each : what.changes) {
    if (each.type != kind::set || each.path != group_paths().planner()) continue;
    const auto record = detail::parse_record(each.data);
    if (!record) continue;
    if (record->epoch != planner_epoch_) planner_ = client_of(what.session);
    planner_epoch_ = record->epoch;
    has_planner_ = !record->finished();
    planners_.insert(planner_);
  }
}

/// A member may write to its own node that it drains, and may restore what somebody else has overwritten.
void order_rules::check_writer(const entry& what) {
  for (const auto& each : what.changes) {
    const auto name = child_of(group_paths().members(), each.path);
    if (each.type != kind::set || name.empty()) continue;
    const auto& member = state_.members().at(name);
    in_.require(member.record.has_value(), "a member's node can be read", each.data);
    if (!member.record) continue;
    const auto& now = member.record->orders;
    const auto known = had_.find(name);
    const bool is_own = member.session == what.session;
    if (is_own && known == had_.end()) continue;
    const auto& then = known == had_.end() ? detail::shard_orders() : known->second;
    const bool is_same =
        then.plan == now.plan && then.own == now.own && then.expect == now.expect && then.gone == now.gone;
    if (is_own && is_same) continue;
    const bool is_planner = has_planner_ && client_of(what.session) == planner_;
    in_.require(is_planner, "orders are those of the present planner",
                "client " + std::to_string(client_of(what.session)) + " writes " + each.data);
  }
}

/// A member writes its last orders over the foreign data in its node. The planner may have made other plans.
bool order_rules::restores(const entry& what) const {
  return std::ranges::any_of(what.changes, [&](const change& each) {
    const auto name = child_of(group_paths().members(), each.path);
    return !name.empty() && !had_.contains(name) && state_.members().at(name).session == what.session;
  });
}

void order_rules::check_change(std::uint32_t shard, const std::string& from, const std::string& to) {
  const bool is_taken = !from.empty() && state_.is_there(from);
  if (!to.empty()) check_given(shard, to, is_taken);
  if (!to.empty() && is_taken) check_move(shard, from, to);
}

void order_rules::check_move(std::uint32_t shard, const std::string& from, const std::string& to) {
  const auto text = detail::shard_name(shard) + " from " + from + " to " + to;
  // More than once, because members with the same id come first, and what moved before may not have been seen.
  // The end of a probation is a need that only the planner knows.
  const bool has_need = ++moves_[shard] <= 3 || state_.has_returning();
  in_.require(has_need, "a shard does not move again without need", text);
  in_.require(!was_balanced_, "nothing moves without need", text);
  if (!state_.gives_all(from)) {
    const auto& frozen = state_.frozen_since();
    in_.require(!frozen || !is_over(*frozen) || is_tampered(), "nothing is taken from members while frozen", text);
  }
  const auto& id = state_.members().at(from).record->id;
  if (id == state_.members().at(to).record->id) return;     // the same process in a later session
  if (had_.contains(to) && had_.at(to).has(shard)) return;  // an operator has ordered it twice
  // What an earlier session of a member had goes to others at once if the later one fails, or has died again and again.
  const bool has_heir = state_.has_joined(id, state_.members().at(from).joined + instant(1));
  if (state_.has_returning() || has_heir) return;
  const auto now = in_.clock().now();
  way_.erase(shard);
  if (workers_[shard] == to) return;  // it had seen the shard free before the order
  way_[shard] = {to, now};
  // One that has been under way for long may be free, and kept by nothing but its owner to be: it does not count then.
  const auto fresh = std::ranges::count_if(
      way_, [&](const auto& each) { return now - each.second.since < in_.what().timeout * 98 / 100; });
  in_.require(static_cast<std::size_t>(fresh) <= most_moves_ || is_tampered(),
              "no more shards than that are on their way", text);
}

/// A shard that is taken from another member waits for nobody.
void order_rules::check_given(std::uint32_t shard, const std::string& to, bool is_taken) {
  const auto text = detail::shard_name(shard) + " to " + to;
  const auto quarantine = state_.quarantines().find(shard);
  in_.require(quarantine == state_.quarantines().end() || !is_over(quarantine->second),
              "a shard in quarantine is given to nobody", text);
  const auto& member = state_.members().at(to);
  for (const auto& [id, each] : state_.away()) {
    if (is_taken || is_tampered() || each.is_changed || !kept_[id].contains(shard)) continue;
    if (state_.has_joined(id, each.since) || state_.has_idle_successor(each.note)) continue;
    const auto& own = member.record ? member.record->id : std::string();
    const auto other = state_.away().find(own);
    const bool is_in_two_notes = other != state_.away().end() && other->second.note.own.contains(shard);
    if (own == id || is_in_two_notes) continue;
    if (in_.what().swallows_events() && !is_over(each.since)) continue;  // the planner may not know of the note
    const bool has_waited = in_.clock().now() - each.since >= each.note.grace * 98 / 100;
    in_.require(has_waited, "shards wait for their member", text + " instead of " + id);
  }
}

void order_rules::begun(std::uint32_t shard, const std::string& member) {
  workers_[shard] = member;
  const auto found = way_.find(shard);
  if (found != way_.end() && found->second.to == member) way_.erase(found);
}

/// The list of the members is of interest to planners only. A client that has planned before may have left the watch.
void order_rules::watch_fired(const connection& to, const backend::watch_event& event) {
  if (event.what != backend::change::children || event.path != group_paths().members()) return;
  in_.require(planners_.contains(to.client), "only planners hear of other members",
              "client " + std::to_string(to.client));
}

}  // namespace zkrecipes::simulation
