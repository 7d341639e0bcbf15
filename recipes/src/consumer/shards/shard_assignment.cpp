#include "shards/shard_assignment.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

namespace zkrecipes::detail {

namespace {

constexpr std::size_t most_map_bytes = 900'000;  // a node has at most a megabyte

std::int64_t last_plan_of(const std::vector<listed_member>& members) {
  std::int64_t last = 0;
  for (const auto& each : members) last = std::max(last, each.record.orders.plan);
  return last;
}

std::string make_map(std::uint32_t count, const std::vector<listed_member>& members, bool with_data) {
  auto map = json_object::of_kind("shard_map");
  json_object all;
  shard_set moving;
  for (const auto& each : members) {
    json_object member;
    member.set("id", each.record.id).set("own", each.record.orders.own.to_text());
    if (with_data && !each.record.data.empty()) member.set("data", each.record.data);
    all.set(each.node, member);
    for (const auto shard : each.record.orders.expect) moving.insert(shard);
  }
  map.set("plan", last_plan_of(members)).set("count", std::int64_t(count)).set("members", all);
  if (!moving.empty()) map.set("moving", moving.to_text());
  return map.to_text();
}

}  // namespace

shard_assignment::shard_assignment(std::uint32_t shards, std::vector<listed_member> members,
                                   std::vector<away_record> away, const shard_set& quarantined, operator_notes notes)
    : count_(shards),
      members_(std::move(members)),
      away_(std::move(away)),
      notes_(std::move(notes)),
      owners_(shards, unowned),
      quarantined_(shards, false),
      is_stuck_(shards, false),
      changed_(members_.size(), false),
      loses_(members_.size(), false),
      is_avoided_(members_.size(), false),
      confirmed_(members_.size(), false) {
  for (const auto each : quarantined) {
    if (each < shards) quarantined_[each] = true;
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto& id = members_[i].record.id;
    const auto known = heirs_.find(id);
    const bool is_newer = known == heirs_.end() || members_[known->second].sequence < members_[i].sequence;
    if (is_newer) heirs_[id] = i;
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    is_superseded_.push_back(heir_of(members_[i].record.id) != i);
    drains_.push_back(members_[i].record.is_draining || notes_.drains.contains(members_[i].record.id));
  }
  const auto all = std::views::iota(std::size_t{0}, members_.size());
  if (std::ranges::all_of(all, [this](std::size_t each) { return capacity_of(each) == 0; })) {
    for (const auto each : all) drains_[each] = members_[each].record.is_draining;
  }
  mark_avoided();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    resolve(i, members_[i].record.orders.own);
    resolve(i, members_[i].record.orders.expect);
  }
  inherit_from_living();
  inherit_from_away();
}

/// Members that fail, or come back again and again, get nothing as long as they are not more than the others: what
/// fails nearly everywhere is not theirs, and the others could not bear the load.
void shard_assignment::mark_avoided() {
  std::size_t active = 0;
  std::vector<std::size_t> avoided;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (capacity_of(i) == 0) continue;
    ++active;
    if (members_[i].is_on_probation || !members_[i].record.failing.empty()) avoided.push_back(i);
  }
  if (2 * avoided.size() > active) return;
  for (const auto each : avoided) is_avoided_[each] = true;
}

/// Each shard has one owner. If there are two, the one counts whose orders are newer.
void shard_assignment::resolve(std::size_t owner, shard_set& shards) {
  const std::vector<std::uint32_t> all(shards.begin(), shards.end());
  for (const auto each : all) {
    const bool is_possible = each < count_ && !quarantined_[each];
    const auto other = is_possible ? owners_[each] : unowned;
    const auto plan_of = [this](std::size_t which) { return members_[which].record.orders.plan; };
    if (is_possible && (other == unowned || plan_of(other) < plan_of(owner))) {
      if (other != unowned) take(other, each);
      owners_[each] = owner;
    } else {
      shards.erase(each);
      changed_[owner] = loses_[owner] = true;
    }
  }
}

void shard_assignment::take(std::size_t owner, std::uint32_t shard) {
  auto& orders = members_[owner].record.orders;
  orders.own.erase(shard);
  orders.expect.erase(shard);
  changed_[owner] = loses_[owner] = true;
}

void shard_assignment::expect(std::size_t owner, std::uint32_t shard) {
  members_[owner].record.orders.expect.insert(shard);
  owners_[shard] = owner;
  changed_[owner] = true;
}

std::size_t shard_assignment::heir_of(const std::string& id) const {
  const auto found = heirs_.find(id);
  return found == heirs_.end() ? nobody : found->second;
}

/// The list of members can be older than the note, and can show what a killed process has left. Only a member that has
/// joined behind the one that wrote the note takes its place.
std::size_t shard_assignment::heir_of(const away_record& note) const {
  const auto heir = heir_of(note.id);
  const auto sequence = parse_sequence(note.node, group_layout().line().accepted);
  return heir == nobody || members_[heir].sequence <= sequence.value_or(-1) ? nobody : heir;
}

/// A process that was restarted before its former session has ended gets what that had. It happens once, before its
/// first orders, so that two processes under one id do not take shards from each other again and again.
void shard_assignment::inherit_from_living() {
  for (std::uint32_t shard = 0; shard < count_; ++shard) {
    const auto owner = owners_[shard];
    if (owner == unowned || !is_superseded_[owner]) continue;
    const auto heir = heir_of(members_[owner].record.id);
    const auto& after = members_[heir].record;
    if (after.orders.plan != 0 || drains_[heir]) continue;
    take(owner, shard);
    if (is_avoided_[heir]) owners_[shard] = unowned;
    if (!is_avoided_[heir]) expect(heir, shard);
  }
}

/// Shards of a member that is away are its heir's, or wait for it.
void shard_assignment::inherit_from_away() {
  for (std::size_t i = 0; i < away_.size(); ++i) {
    const auto heir = heir_of(away_[i]);
    if (heir != nobody) returned_.push_back(away_[i].id);
    for (const auto shard : away_[i].own) {
      const bool is_free = shard < count_ && owners_[shard] == unowned && !quarantined_[shard];
      if (is_free && heir == nobody) owners_[shard] = members_.size() + i;
      if (is_free && heir != nobody && takes(heir)) expect(heir, shard);
    }
  }
}

std::vector<shard_assignment::move_under_way> shard_assignment::moves_under_way() const {
  std::vector<move_under_way> all;
  for (const auto& each : members_) {
    for (const auto shard : each.record.orders.expect) all.push_back({shard, each.node});
  }
  return all;
}

bool shard_assignment::take_back(const std::set<std::uint32_t>& shards) {
  bool has_taken = false;
  for (const auto each : shards) {
    if (owners_[each] >= members_.size()) continue;
    take(owners_[each], each);
    owners_[each] = unowned;
    has_taken = true;
  }
  return has_taken;
}

void shard_assignment::mark_begun(std::uint32_t shard) {
  const auto owner = owners_[shard];
  if (owner == unowned || owner >= members_.size()) return;
  auto& orders = members_[owner].record.orders;
  orders.expect.erase(shard);
  orders.own.insert(shard);
  confirmed_[owner] = true;
}

void shard_assignment::confirm() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (confirmed_[i]) changed_[i] = true;
  }
}

std::vector<std::string> shard_assignment::newcomers() const {
  std::vector<std::string> all;
  for (const auto& each : members_) {
    if (each.record.orders.plan == 0) all.push_back(each.node);
  }
  return all;
}

bool shard_assignment::has_orphans() const {
  const auto can_take = [this](std::size_t each) { return members_[each].record.orders.plan != 0 && takes(each); };
  if (std::ranges::none_of(std::views::iota(std::size_t{0}, members_.size()), can_take)) return false;
  for (std::uint32_t shard = 0; shard < count_; ++shard) {
    if (owners_[shard] == unowned && !quarantined_[shard]) return true;
  }
  return false;
}

std::uint32_t shard_assignment::capacity_of(std::size_t which) const {
  return !takes(which) || is_superseded_[which] ? 0 : members_[which].record.capacity;
}

plan_request shard_assignment::to_plan(double max_moves, bool is_frozen) const {
  plan_request all;
  for (std::size_t i = 0; i < members_.size(); ++i) all.members.push_back({members_[i].node, capacity_of(i), false});
  for (const auto& each : away_) {
    if (heir_of(each) == nobody) {
      all.members.push_back({"away " + each.id, each.capacity, true});
    } else {
      all.members.push_back({"back " + each.id, 0, true});
    }
  }
  all.owners = owners_;
  all.moving.assign(count_, false);
  for (const auto& each : moves_under_way()) all.moving[each.shard] = !is_stuck_[each.shard];
  all.quarantined = quarantined_;
  if (!notes_.pins.empty()) all.pinned.assign(count_, nobody);
  for (const auto& [shard, id] : notes_.pins) {
    if (shard < count_) all.pinned[shard] = heir_of(id);  // the present member of that id
  }
  all.max_moves = std::max<std::size_t>(1, static_cast<std::size_t>(std::floor(count_ * max_moves)));
  all.frozen = is_frozen;
  return all;
}

void shard_assignment::apply(const std::vector<shard_move>& moves, const std::map<std::uint32_t, std::string>& gone) {
  for (auto& each : members_) each.record.orders.gone.clear();
  for (const auto& each : moves) {
    const auto shard = static_cast<std::uint32_t>(each.shard);
    if (each.from != nobody && each.from < members_.size()) take(each.from, shard);
    expect(each.to, shard);
    const auto before = gone.find(shard);
    if (before == gone.end()) continue;
    auto& names = members_[each.to].record.orders.gone;
    if (std::ranges::find(names, before->second) == names.end()) names.push_back(before->second);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].record.orders.plan == 0) changed_[i] = true;
  }
}

void shard_assignment::release_if_all_drain() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (capacity_of(i) != 0) return;
  }
  for (std::uint32_t shard = 0; shard < count_; ++shard) {
    if (owners_[shard] == unowned || owners_[shard] >= members_.size()) continue;
    take(owners_[shard], shard);
    owners_[shard] = unowned;
  }
}

shard_owners shard_assignment::owners() const {
  shard_owners all;
  for (const auto& each : members_) all.nodes.push_back(each.node);
  all.of = owners_;
  return all;
}

bool shard_assignment::has_changed() const {
  return std::ranges::any_of(changed_, [](bool each) { return each; });
}

std::vector<shard_assignment::order> shard_assignment::changed_orders() const {
  std::vector<order> all;
  const auto plan = std::min(last_plan_of(members_) + 1, last_plan);  // somebody may have written the last one
  for (const bool losing : {true, false}) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!changed_[i] || loses_[i] != losing) continue;
      auto record = members_[i].record;
      record.orders.plan = plan;
      all.push_back({members_[i].node, members_[i].version, serialize(record)});
    }
  }
  return all;
}

std::string shard_assignment::to_map() const {
  auto map = make_map(count_, members_, true);
  return map.size() > most_map_bytes ? make_map(count_, members_, false) : map;
}

}  // namespace zkrecipes::detail
