#include "problems/group_rules.hpp"

#include <algorithm>
#include <string>

#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_list = 80;  // Bytes of a list of shards.
constexpr std::size_t longest_member_ids = 200;
constexpr std::int64_t many_returns = 2;  // In a row; then it gets no shards until it has stayed for a while.

/// The moves that have waited for longer than the limit, in one text; empty if there are none.
std::string standing_moves(const group_status& group, const problem_limits& limits) {
  shard_numbers shards;
  std::chrono::milliseconds longest{0};
  for (const auto& each : group.moves) {
    if (!each.waits || *each.waits < limits.move_limit) continue;
    shards.push_back(each.shard);
    longest = std::max(longest, *each.waits);
  }
  if (shards.empty()) return {};
  std::sort(shards.begin(), shards.end());
  return "moves that stand still: " + std::to_string(shards.size()) + ", the longest for " + short_duration(longest) +
         " (shards " + shortened(ranges(shards), longest_list) + ")";
}

}  // namespace

problem_list problems_of(const group_status& group, const problem_limits& limits) {
  problem_list found;
  const auto add = [&](const char* name, severity how_bad, std::string text) {
    found.push_back({name, how_bad, group.path, std::move(text)});
  };
  if (!group.quarantined.empty())
    add("quarantined-shards", severity::critical, "shards in quarantine: " + std::to_string(group.quarantined.size()));
  if (!group.held_off.empty())
    add("consumer-held-off", severity::critical,
        "all attempts at messages fail, so one is tried at a time (shards " +
            shortened(ranges(group.held_off), longest_list) + "): " + group.held_off_reason);
  const bool is_unplanned = group.planner.empty() && !group.planner_unknown;
  if (!group.members.empty() && is_unplanned) add("nobody-plans", severity::warning, "nobody plans");
  std::string failing, looping;
  for (const auto& each : group.members) {
    if (!each.failing.empty()) append_to_list(failing, each.id + " (" + each.failing + ")");
    if (each.returns >= many_returns && each.owned.empty()) append_to_list(looping, each.id);
  }
  if (!failing.empty())
    add("failing-member", severity::warning,
        "most shards fail there, so others have them: " + shortened(failing, longest_member_ids));
  if (!looping.empty())
    add("comes-again", severity::warning,
        "gone soon after each start, again and again: " + shortened(looping, longest_member_ids));
  if (!group.still.empty())
    add("stands-still", severity::warning,
        "a message has been in process for longer than 45 s: shards " + shortened(ranges(group.still), longest_list) +
            (group.still_message.empty()
                 ? std::string()
                 : "; that of shard " + std::to_string(group.still.front()) + " is " + group.still_message));
  if (auto text = standing_moves(group, limits); !text.empty())
    add("moves-stand-still", severity::warning, std::move(text));
  return found;
}

}  // namespace zkadmin
