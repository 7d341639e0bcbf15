#include "cluster/recipe_place.hpp"

#include <algorithm>

#include "cluster/queue_status.hpp"

namespace zkadmin {
namespace {

std::string without_end(const std::string& path, std::string_view end) {
  return path.substr(0, path.size() - end.size());
}

constexpr std::string_view limit_of_balance = "/limit", members_of_balance = "/members";

recipe_place place_of_queue(const std::string& path, const std::vector<std::string>& children) {
  constexpr std::string_view side = "-side", taken = "/taken";
  const bool has_items = std::any_of(children.begin(), children.end(), is_item_name);
  // That of a priority queue.
  if (path.ends_with(side) && !has_items) return {recipe::queue, without_end(path, side)};
  // The claims of kazoo's LockingQueue bear the names of the items.
  if (path.ends_with(taken)) return {recipe::queue, without_end(path, taken) + "/entries"};
  return {recipe::queue, path};
}

}  // namespace

recipe_paths paths_of(const std::map<std::string, recipe_place>& told) {
  recipe_paths all;
  for (const auto& [node, place] : told) all[place.which].push_back(place.path);
  for (auto& [which, paths] : all) {
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  }
  const auto is_found = [&all](recipe which, const std::string& path) {
    const auto& paths = all[which];
    return std::binary_search(paths.begin(), paths.end(), path);
  };
  std::erase_if(all[recipe::lock], [&](const auto& path) {
    return path.ends_with(inner_locks) && is_found(recipe::semaphore, without_end(path, inner_locks));
  });
  std::erase_if(all[recipe::membership], [&](const auto& path) {
    return path.ends_with(members_of_balance) &&
           is_found(recipe::shared_balance, without_end(path, members_of_balance));
  });
  // A node with members of its own recipe has no other members.
  std::erase_if(all[recipe::membership], [&](const auto& path) {
    const auto is_another = [&](recipe which) { return which != recipe::membership && is_found(which, path); };
    return std::any_of(all_recipes().begin(), all_recipes().end(), is_another);
  });
  return all;
}

recipe_place place_of(recipe which, const std::string& path, const std::vector<std::string>& children) {
  constexpr std::string_view leases = "/leases";
  if (path.ends_with(leases) && std::any_of(children.begin(), children.end(), is_lease_name))
    return {recipe::semaphore, without_end(path, leases)};
  if (path.ends_with(kazoos_inner_lock)) return {recipe::semaphore, without_end(path, kazoos_inner_lock)};
  // The path of a balance itself holds nothing.
  if (which == recipe::shared_balance && path.ends_with(limit_of_balance))
    return {which, without_end(path, limit_of_balance)};
  return which == recipe::queue ? place_of_queue(path, children) : recipe_place{which, path};
}

}  // namespace zkadmin
