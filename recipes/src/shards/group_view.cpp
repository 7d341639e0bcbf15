#include "shards/group_view.hpp"

#include <algorithm>
#include <utility>

#include "election/term_record.hpp"
#include "session/outcomes.hpp"
#include "shards/member_record.hpp"
#include "shards/shard_seat.hpp"

namespace zkrecipes::detail {

using backend::opcode;
using backend::reply;

namespace {

std::vector<std::uint32_t> to_list(const shard_set& all) { return {all.begin(), all.end()}; }

void add_member(shard_group_view& view, const std::string& node, const std::string& data) {
  const auto record = parse_member_record(data);
  if (!record) return;
  group_member_view member;
  member.node = node;
  member.id = record->id;
  member.data = record->data;
  member.capacity = record->capacity / 1000.0;
  member.is_draining = record->is_draining;
  member.plan = record->orders.plan;
  auto all = record->orders.own;
  for (const auto each : record->orders.expect) all.insert(each);
  member.shards = to_list(all);
  for (const auto each : member.shards) {
    if (each < view.count) view.shards[each].assigned_to = node;
  }
  view.members.push_back(std::move(member));
}

void add_away(shard_group_view& view, const std::string& data) {
  const auto record = parse_away_record(data);
  if (record) view.away.push_back({record->id, record->grace, to_list(record->own)});
}

void add_record(shard_view& view, const reply& node) {
  const auto record = parse_record(node.data);
  if (!record) return;
  view.epoch = record->epoch;
  view.phase = record->phase;
  view.how = record->how;
  view.owner = record->leader_id;
  view.owner_node = member_of(*record);
  view.deaths = record->deaths;
  view.since = node.stat.mtime;
}

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

awaitable<outcome<shard_group_view>> view_group(core_ptr session, group_layout where) {
  shard_group_view view;
  std::vector<backend::request> lists{
      make_request(opcode::get, where.root), make_request(opcode::children, where.members()),
      make_request(opcode::children, where.away()), make_request(opcode::children, where.quarantines()),
      make_request(opcode::exists, where.frozen())};
  auto listed = co_await session->perform_all(std::move(lists));
  error_code error = listed[0].error;
  for (std::size_t i = 1; i < listed.size() && !error; ++i) error = failure_of(listed[i]);
  if (error) co_return outcome<shard_group_view>(error, std::move(view));
  const auto size = read_group_data(listed[0].data);
  if (!size.is_group) co_return outcome<shard_group_view>(errc::foreign_data, std::move(view));
  view.count = size.shards;
  view.is_frozen = !listed[4].error;
  view.shards.resize(view.count);
  const auto& members = listed[1].children;
  const auto& away = listed[2].children;
  std::vector<backend::request> reads;
  for (const auto& each : members) reads.push_back(make_request(opcode::get, where.member(each)));
  for (const auto& each : away) reads.push_back(make_request(opcode::get, join(where.away(), each)));
  for (std::uint32_t i = 0; i < view.count; ++i) reads.push_back(make_request(opcode::get, where.record(i)));
  auto nodes = co_await read_all(session, std::move(reads));
  for (std::size_t i = 0; i < nodes.size() && !error; ++i) {
    if (is_untold(nodes[i].error)) error = nodes[i].error;
  }
  for (std::uint32_t i = 0; i < view.count; ++i) {
    view.shards[i].number = i;
    add_record(view.shards[i], nodes[members.size() + away.size() + i]);
  }
  for (std::size_t i = 0; i < members.size(); ++i) add_member(view, members[i], nodes[i].data);
  for (std::size_t i = 0; i < away.size(); ++i) add_away(view, nodes[members.size() + i].data);
  for (const auto& each : listed[3].children) {
    const auto number = parse_shard_name(each);
    if (number && *number < view.count) view.shards[*number].is_in_quarantine = true;
  }
  std::ranges::sort(view.members, {}, &group_member_view::node);
  co_return outcome<shard_group_view>(error, std::move(view));
}

}  // namespace zkrecipes::detail
