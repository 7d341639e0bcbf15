#include "cluster/group.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/consumer/shard_group.hpp>

#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/status.hpp"

namespace zkadmin {
namespace {

using std::chrono::milliseconds;
using zkrecipes::shard_group_view;
using zkrecipes::shard_view;
using time_point = std::chrono::system_clock::time_point;

constexpr std::size_t longest_held_off = 200;
constexpr std::size_t longest_group_name = 200;

std::optional<milliseconds> known_age(std::int64_t since, time_point now) {
  return since == 0 ? std::nullopt : std::optional(age_since(time_point(milliseconds(since)), now));
}

/// The members by the names of their nodes.
std::map<std::string, group_member_status> members_of(const shard_group_view& view) {
  std::map<std::string, group_member_status> all;
  for (const auto& each : view.members)
    all[each.node] = {each.id, each.node, each.capacity,   each.is_draining, each.plan,   each.data,
                      {},      {},        each.is_drained, each.failing,     each.returns};
  return all;
}

/// When the members' nodes, which have their orders, were written, by the names of the nodes.
using order_times = std::map<std::string, std::int64_t>;

order_times orders_of(const shard_group_view& view) {
  order_times all;
  for (const auto& each : view.members) all[each.node] = each.since;
  return all;
}

shard_move_status move_of(const shard_view& shard, const std::map<std::string, group_member_status>& members,
                          const order_times& ordered, time_point now) {
  shard_move_status move;
  move.shard = shard.number;
  move.from = shard.owner;
  move.from_gone = !shard.owner_node.empty() && !members.contains(shard.owner_node);
  move.to = members.at(shard.assigned_to).id;
  move.phase = to_string(shard.phase);
  move.age = known_age(shard.since, now);
  if (const auto order = ordered.find(shard.assigned_to); order != ordered.end() && order->second > 0) {
    // The last owner writes figures into the record while it executes, which moves nothing.
    const bool is_at_work = shard.phase == zkrecipes::term_phase::executing;
    move.waits = known_age(is_at_work ? order->second : std::max(shard.since, order->second), now);
  }
  return move;
}

/// A quarantine that does not say so itself is of the last owner.
quarantined_shard quarantine_of(const shard_view& shard) {
  const auto& last = shard.quarantine.last_owner;
  return {shard.number, shard.quarantine.deaths, last.empty() ? shard.owner : last};
}

std::vector<absent_member_status> away_of(const shard_group_view& view, time_point now) {
  std::vector<absent_member_status> all;
  for (const auto& each : view.away)
    all.push_back(
        {each.id, each.grace, known_age(each.since, now), shard_numbers(each.shards.begin(), each.shards.end())});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return all;
}

std::set<std::uint32_t> awaiting(const shard_group_view& view) {
  std::set<std::uint32_t> all;
  for (const auto& each : view.away) all.insert(each.shards.begin(), each.shards.end());
  return all;
}

/// When an order was given, or the record of one of these shards written, for the last time; 0: unknown.
template <class Condition>
std::int64_t last_change(const shard_group_view& view, Condition is_looked_at) {
  std::int64_t last = 0;
  for (const auto& each : view.members) last = std::max(last, each.since);
  for (const auto& each : view.away)
    if (each.since > 0) last = std::max(last, each.since + each.grace.count());
  for (const auto& each : view.shards)
    if (is_looked_at(each)) last = std::max(last, each.since);
  return last;
}

bool is_in_office(const shard_view& shard) noexcept {
  using zkrecipes::term_phase;
  return shard.phase == term_phase::inaugurating || shard.phase == term_phase::executing ||
         shard.phase == term_phase::handing_over;
}

void find_idle_shards(group_status& group, const shard_group_view& view, time_point now) {
  const auto is_unassigned = [&group](const shard_view& each) {
    return std::binary_search(group.unassigned.begin(), group.unassigned.end(), each.number);
  };
  if (view.members.empty()) {
    group.deserted_for = known_age(last_change(view, [](const auto&) { return true; }), now);
    group.has_open_terms = std::any_of(view.shards.begin(), view.shards.end(),
                                       [&](const auto& each) { return is_in_office(each) && is_unassigned(each); });
  } else if (!group.unassigned.empty()) {
    // The records of the others are written while they are processed.
    group.unassigned_for = known_age(last_change(view, is_unassigned), now);
  }
}

}  // namespace

std::size_t owned_count(const group_status& group) noexcept {
  std::size_t count = 0;
  for (const auto& each : group.members) count += each.owned.size();
  return count;
}

const char* state_of(const group_member_status& member) noexcept {
  if (member.is_draining) return "draining";
  return member.is_drained ? "drained" : "active";
}

std::string ranges(const shard_numbers& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    auto last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[first]);
    if (last > first) text += "-" + std::to_string(numbers[last]);
    first = last + 1;
  }
  return text;
}

group_status status_of(std::string path, const shard_group_view& view, const group_planner& planner, time_point now) {
  group_status group;
  group.path = std::move(path);
  group.shards = view.count;
  group.frozen = view.is_frozen;
  group.planner = planner.id;
  group.planner_unknown = planner.is_unknown;
  group.away = away_of(view, now);
  group.drained = view.drained;
  const auto ordered = orders_of(view);
  auto members = members_of(view);
  const auto waited_for = awaiting(view);
  for (const auto& each : view.shards) {
    const auto owner = members.find(each.assigned_to);
    const auto owner_id = owner == members.end() ? std::string() : owner->second.id;
    if (!each.held_off.empty()) {
      if (group.held_off.empty()) group.held_off_reason = shortened(each.held_off, longest_held_off);
      group.held_off.push_back(each.number);
    }
    if (each.is_still) {
      if (group.still.empty()) group.still_message = shortened(each.still_message, longest_group_name);
      group.still.push_back(each.number);
    }
    if (!each.pinned_to.empty()) group.pins.push_back({each.number, each.pinned_to, owner_id});
    if (each.is_in_quarantine) {
      group.quarantined.push_back(quarantine_of(each));
    } else if (owner != members.end() && each.is_moving()) {
      owner->second.expected.push_back(each.number);
      group.moves.push_back(move_of(each, members, ordered, now));
    } else if (owner != members.end()) {
      owner->second.owned.push_back(each.number);
    } else {
      (waited_for.contains(each.number) ? group.waiting : group.unassigned).push_back(each.number);
    }
  }
  find_idle_shards(group, view, now);
  for (auto& [node, each] : members) group.members.push_back(std::move(each));
  std::stable_sort(group.members.begin(), group.members.end(),
                   [](const auto& a, const auto& b) { return a.id < b.id; });
  return group;
}

namespace {

namespace asio = boost::asio;
using zkrecipes::errc;

asio::awaitable<group_planner> find_planner(zkrecipes::session session, std::string path) {
  const auto seen = co_await view_election(std::move(session), path + "/_planner");
  co_return planner_of(seen ? &*seen : nullptr);
}

}  // namespace

group_planner planner_of(const election_status* election) {
  group_planner planner;
  if (election && election->leader) planner.id = label(*election->leader);
  planner.is_unknown = election && !is_known(*election);
  return planner;
}

asio::awaitable<reading<group_status>> read_group(zkrecipes::session session, std::string path) {
  reading<group_status> result;
  result.error = errc::no_node;
  if (path == "/") co_return result;
  zkrecipes::shard_group group(session, path, {.id = "zkadmin"});
  auto viewed = co_await group.async_view(as_result);
  result.error = std::get<0>(viewed);
  if (result.error) co_return result;
  const auto planner = co_await find_planner(session, path);
  result.status = status_of(std::move(path), std::get<1>(viewed), planner, std::chrono::system_clock::now());
  co_return result;
}

}  // namespace zkadmin
