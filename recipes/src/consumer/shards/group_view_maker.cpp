#include "shards/group_view_maker.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "election/term_record.hpp"
#include "shards/group_layout.hpp"
#include "shards/shard_holding.hpp"
#include "shards/shard_name.hpp"
#include "shards/shard_quarantine.hpp"

namespace zkrecipes::detail {

namespace {

std::vector<std::uint32_t> to_list(const shard_set& all) { return {all.begin(), all.end()}; }

}  // namespace

shard_view view_of_shard(std::uint32_t number, const std::string& data, const node_stat& stat) {
  shard_view shard;
  shard.number = number;
  const auto record = parse_record(data);
  if (!record) return shard;
  shard.epoch = record->epoch;
  shard.phase = record->phase;
  shard.how = record->how;
  shard.owner = record->leader_id;
  shard.owner_node = member_of(*record);
  shard.deaths = record->deaths;
  shard.since = stat.mtime;
  auto work = work_in(*record);
  shard.held_off = std::move(work.held_off);
  shard.is_still = work.is_still;
  shard.still_message = std::move(work.still_message);
  return shard;
}

group_view_maker::group_view_maker(const group_size& size, bool is_frozen) {
  view_.count = size.shards;
  view_.is_frozen = is_frozen;
  view_.shards.resize(size.shards);
  for (std::uint32_t i = 0; i < size.shards; ++i) view_.shards[i].number = i;
}

void group_view_maker::set_shard(shard_view shard) {
  auto& place = view_.shards[shard.number];
  place = std::move(shard);
}

void group_view_maker::add_member(const std::string& node, const std::string& data, const node_stat& stat) {
  const auto record = parse_member_record(data);
  if (!record) return;
  group_member_view member;
  member.node = node;
  member.id = record->id;
  member.data = record->data;
  member.capacity = record->capacity / 1000.0;
  member.is_draining = record->is_draining;
  member.failing = record->failing;
  member.returns = record->orders.returns;
  member.plan = record->orders.plan;
  member.since = stat.mtime;
  auto all = record->orders.own;
  for (const auto each : record->orders.expect) all.insert(each);
  member.shards = to_list(all);
  for (const auto each : member.shards) {
    if (each < view_.count) view_.shards[each].assigned_to = node;
  }
  view_.members.push_back(std::move(member));
}

void group_view_maker::add_away(const std::string& data, const node_stat& stat) {
  const auto record = parse_away_record(data);
  if (record) view_.away.push_back({record->id, record->grace, to_list(record->own), stat.mtime});
}

void group_view_maker::add_quarantine(const std::string& name, const std::string& data) {
  const auto number = parse_shard_name(name);
  if (!number || *number >= view_.count) return;
  auto record = parse_quarantine(data);
  view_.shards[*number].is_in_quarantine = true;
  view_.shards[*number].quarantine = {record.deaths, std::move(record.last)};
}

shard_group_view group_view_maker::finish() {
  view_.drained.assign(notes_.drains.begin(), notes_.drains.end());
  for (auto& each : view_.members) each.is_drained = notes_.drains.contains(each.id);
  for (const auto& [shard, id] : notes_.pins) {
    if (shard < view_.count) view_.shards[shard].pinned_to = id;
  }
  std::ranges::sort(view_.members, {}, &group_member_view::node);
  return std::move(view_);
}

}  // namespace zkrecipes::detail
