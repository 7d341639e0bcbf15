#include "cluster/watched_node.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "cluster/node_path.hpp"
#include "cluster/recipe_place.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t most_topic_nodes = 500;
constexpr recipe kinds_with_known_nodes[] = {recipe::lock,    recipe::read_write_lock, recipe::semaphore,
                                             recipe::barrier, recipe::double_barrier,  recipe::membership,
                                             recipe::service, recipe::queue,           recipe::persistent_node};
constexpr std::size_t most_transactions = 100;  // The decisions of more are seen when their marks go.

void add(watched_nodes& to, std::string path, watched_part part) { to.push_back({std::move(path), part}); }

void add_both(watched_nodes& to, const std::string& path) {
  add(to, path, watched_part::data);
  add(to, path, watched_part::children);
}

std::string shard_path(const std::string& topic, std::uint32_t shard) {
  const auto digits = std::to_string(shard);
  return join(topic, std::string(4 - std::min<std::size_t>(digits.size(), 4), '0') + digits);
}

std::size_t count_of_nodes(const topic_status& topic) noexcept {
  return topic.shards * (2 + topic.groups.size()) + topic.groups.size();
}

/// Where a queue of this path has its claims, dead letters and waiting takers.
void add_folders(watched_nodes& to, const std::string& folder) {
  for (const auto* each : {"_dead", "_idle"}) add(to, join(folder, each), watched_part::children);
}

void add_participants(watched_nodes& to, const recipe_status& status) {
  for (const auto& each : status.participants)
    if (!each.node.empty()) add(to, join(status.path, each.node), watched_part::data);
}

/// Ours, Curator's and kazoo's: what is missing may come.
void add_semaphore(watched_nodes& to, const recipe_status& semaphore) {
  for (const auto* each : {"leases", "locks"}) add(to, join(semaphore.path, each), watched_part::children);
  add(to, semaphore.path + std::string(kazoos_inner_lock), watched_part::children);
}

bool may_be(const recipe_status& status, recipe which) {
  return std::find(status.kinds.begin(), status.kinds.end(), which) != status.kinds.end();
}

}  // namespace

bool is_watched(const topic_status& topic) noexcept { return count_of_nodes(topic) <= most_topic_nodes; }

bool is_watched(const recipe_status& recipe) noexcept {
  const auto has_known_nodes = [](zkadmin::recipe which) {
    return std::find(std::begin(kinds_with_known_nodes), std::end(kinds_with_known_nodes), which) !=
           std::end(kinds_with_known_nodes);
  };
  const auto& kinds = recipe.kinds;
  return recipe.access != recipe_access::no_access && std::any_of(kinds.begin(), kinds.end(), has_known_nodes);
}

watched_nodes nodes_of(const topic_status& topic) {
  watched_nodes all;
  add(all, topic.path, watched_part::data);
  if (!is_watched(topic)) return all;
  for (std::uint32_t i = 0; i < topic.shards; ++i) {
    const auto shard = shard_path(topic.path, i);
    const auto positions = join(shard, "_at");
    add(all, shard, watched_part::children);
    add(all, positions, watched_part::children);
    for (const auto& group : topic.groups) add(all, join(positions, group.name), watched_part::data);
  }
  for (const auto& group : topic.groups) add(all, join(join(topic.path, "_dead"), group.name), watched_part::children);
  return all;
}

watched_nodes nodes_of(const commit_status& commit) {
  watched_nodes all;
  add(all, commit.path, watched_part::data);
  add(all, join(commit.path, "_undecided"), watched_part::children);
  const auto count = std::min(commit.undecided.size(), most_transactions);
  for (std::size_t i = 0; i < count; ++i) add(all, join(commit.path, commit.undecided[i].id), watched_part::data);
  return all;
}

watched_nodes nodes_of(const queue_status& queue) {
  constexpr std::string_view items = "/entries";
  const auto side = queue.path + "-side";
  watched_nodes all;
  add(all, queue.path, watched_part::children);
  add_folders(all, queue.path);
  add(all, side, watched_part::children);
  add_folders(all, side);
  if (queue.path.ends_with(items))
    add(all, queue.path.substr(0, queue.path.size() - items.size()) + "/taken", watched_part::children);
  return all;
}

watched_nodes nodes_of(const recipe_status& status) {
  if (const auto* queue = std::get_if<queue_status>(&status.original)) return nodes_of(*queue);
  watched_nodes all;
  add_both(all, status.path);
  add_participants(all, status);
  if (may_be(status, recipe::semaphore)) add_semaphore(all, status);
  return all;
}

}  // namespace zkadmin
