#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include <zkrecipes/consumer/shard_group_follower.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/group_wish.hpp"
#include "failure.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::shard_group_view;
using zkrecipes::shard_view;

/// Whether it is done; else `told` is where it stands.
using group_judge = std::function<bool(const shard_group_view& view, std::string& told)>;

asio::awaitable<void> follow_group(zkrecipes::session session, std::string path, group_judge judge, std::string& told) {
  zkrecipes::shard_group_follower follower(std::move(session), path);
  for (std::uint64_t seen = 0;;) {
    auto changed = co_await follower.async_change(seen, as_result);
    check(std::get<0>(changed), "following " + path);
    const auto& view = std::get<1>(changed);
    if (judge(view, told)) co_return;
    seen = view.revision;
  }
}

/// The nodes of the members of this id.
bool is_of(const shard_group_view& view, const std::string& node, const std::string& id) {
  return std::any_of(view.members.begin(), view.members.end(),
                     [&](const auto& each) { return each.node == node && each.id == id; });
}

bool is_over(zkrecipes::term_phase phase) {
  using zkrecipes::term_phase;
  return phase == term_phase::none || phase == term_phase::retired || phase == term_phase::stalled ||
         phase == term_phase::died;
}

/// Whether the member is to own the shard, or has not given it up.
bool has(const shard_group_view& view, const shard_view& shard, const std::string& id) {
  return is_of(view, shard.assigned_to, id) || (!is_over(shard.phase) && is_of(view, shard.owner_node, id));
}

bool is_drained(const shard_group_view& view, const std::string& path, const std::string& id, std::string& told) {
  const auto left = std::count_if(view.shards.begin(), view.shards.end(),
                                  [&](const shard_view& each) { return has(view, each, id); });
  if (std::find(view.drained.begin(), view.drained.end(), id) == view.drained.end())
    throw failure(exit_code::error, "another has ended the drain of " + id);
  told = id + " of " + path + " has " + (left == 0 ? "no" : std::to_string(left)) + (left == 1 ? " shard" : " shards");
  if (left > 0 && view.is_frozen) told += "; the group is frozen";
  return left == 0;
}

bool is_transferred(const shard_group_view& view, const std::string& path, std::uint32_t number, const std::string& id,
                    std::string& told) {
  const auto name = "shard " + std::to_string(number) + " of " + path;
  if (number >= view.shards.size()) throw failure(exit_code::error, "there is no " + name + " any more");
  const auto& shard = view.shards[number];
  if (shard.pinned_to != id) throw failure(exit_code::error, "another has changed the pin of " + name);
  const bool is_there = is_of(view, shard.assigned_to, id) && !shard.is_moving();
  told = name + " is " + (is_there ? "" : "not yet ") + "owned by " + id;
  if (!is_there && !shard.owner.empty()) told += ": " + std::string(to_string(shard.phase)) + ", of " + shard.owner;
  if (!is_there && view.is_frozen) told += "; the group is frozen";
  return is_there;
}

}  // namespace

asio::awaitable<void> follow_drain(zkrecipes::session session, std::string path, std::string member,
                                   std::string& told) {
  group_judge judge = [&path, &member](const shard_group_view& view, std::string& now) {
    return is_drained(view, path, member, now);
  };
  co_await follow_group(std::move(session), path, std::move(judge), told);
}

asio::awaitable<void> follow_transfer(zkrecipes::session session, std::string path, std::uint32_t shard,
                                      std::string member, std::string& told) {
  group_judge judge = [&path, &member, shard](const shard_group_view& view, std::string& now) {
    return is_transferred(view, path, shard, member, now);
  };
  co_await follow_group(std::move(session), path, std::move(judge), told);
}

}  // namespace zkadmin
