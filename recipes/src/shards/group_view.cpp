#include "shards/group_view.hpp"

#include <algorithm>
#include <utility>

#include "election/term_record.hpp"
#include "session/outcomes.hpp"
#include "shards/member_record.hpp"
#include "shards/shard_quarantine.hpp"
#include "shards/shard_seat.hpp"

namespace zkrecipes::detail {

using backend::opcode;
using backend::reply;

namespace {

std::vector<std::uint32_t> to_list(const shard_set& all) { return {all.begin(), all.end()}; }

/// A thousand at a time, because an answer that waits to be read takes memory.
awaitable<std::vector<reply>> read_all(core_ptr session, std::vector<backend::request> reads) {
  constexpr std::size_t most = 1000;
  std::vector<reply> all;
  for (std::size_t first = 0; first < reads.size(); first += most) {
    const auto last = std::min(reads.size(), first + most);
    std::vector<backend::request> some(reads.begin() + std::ptrdiff_t(first), reads.begin() + std::ptrdiff_t(last));
    auto answers = co_await session->perform_all(std::move(some));
    for (auto& each : answers) all.push_back(std::move(each));
  }
  co_return all;
}

/// A list that is missing is empty.
error_code failure_of(const reply& list) { return list.error == errc::no_node ? error_code() : list.error; }

}  // namespace

shard_view shard_of(std::uint32_t number, const std::string& data, const node_stat& stat) {
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
  std::ranges::sort(view_.members, {}, &group_member_view::node);
  return std::move(view_);
}

awaitable<outcome<shard_group_view>> view_group(core_ptr session, group_layout where) {
  std::vector<backend::request> lists{
      make_request(opcode::get, where.root), make_request(opcode::children, where.members()),
      make_request(opcode::children, where.away()), make_request(opcode::children, where.quarantines()),
      make_request(opcode::exists, where.frozen())};
  auto listed = co_await session->perform_all(std::move(lists));
  error_code error = listed[0].error;
  for (std::size_t i = 1; i < listed.size() && !error; ++i) error = failure_of(listed[i]);
  if (error) co_return outcome<shard_group_view>(error, shard_group_view());
  const auto size = read_group_data(listed[0].data);
  if (!size.is_group) co_return outcome<shard_group_view>(errc::foreign_data, shard_group_view());
  const bool is_frozen = !listed[4].error;
  const auto& members = listed[1].children;
  const auto& away = listed[2].children;
  const auto& quarantines = listed[3].children;
  std::vector<backend::request> reads;
  for (std::uint32_t i = 0; i < size.shards; ++i) reads.push_back(make_request(opcode::get, where.record(i)));
  for (const auto& each : members) reads.push_back(make_request(opcode::get, where.member(each)));
  for (const auto& each : away) reads.push_back(make_request(opcode::get, join(where.away(), each)));
  for (const auto& each : quarantines) reads.push_back(make_request(opcode::get, join(where.quarantines(), each)));
  auto nodes = co_await read_all(session, std::move(reads));
  for (const auto& each : nodes) {
    if (is_untold(each.error)) co_return outcome<shard_group_view>(each.error, shard_group_view());
  }
  group_view_maker maker(size, is_frozen);
  auto next = nodes.begin();
  for (std::uint32_t i = 0; i < size.shards; ++i, ++next) maker.set_shard(shard_of(i, next->data, next->stat));
  for (const auto& each : members) maker.add_member(each, next->data, next->stat), ++next;
  for (std::size_t i = 0; i < away.size(); ++i, ++next) maker.add_away(next->data, next->stat);
  for (const auto& each : quarantines) maker.add_quarantine(each, next->data), ++next;
  co_return outcome<shard_group_view>(error_code(), maker.finish());
}

}  // namespace zkrecipes::detail
