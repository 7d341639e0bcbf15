#include "security/access_sites.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace zkadmin {
namespace {

namespace asio = boost::asio;

bool is_wanted_kind(recipe which, const wanted_kinds& kinds) noexcept {
  switch (which) {
    case recipe::election: return kinds.elections;
    case recipe::shard_group: return kinds.groups;
    case recipe::topic: return kinds.topics;
    case recipe::two_phase_commit: return kinds.commits;
    default: return kinds.recipes;
  }
}

}  // namespace

asio::awaitable<access_sites> find_access_sites(zkrecipes::session session, const targets& wanted,
                                                const std::vector<std::string>& roots, deadline limit) {
  std::map<std::string, recipe> found;
  for (const auto& each : wanted.named) found[each] = recipe::none;
  access_sites all;
  const auto& kinds = wanted.kinds;
  const bool needs_search = kinds.elections || kinds.groups || kinds.topics || kinds.commits || kinds.recipes;
  for (const auto& root : roots) {
    if (!needs_search) break;  // queues are declared
    tree_search search(session, root, {.is_known_root = true});
    co_await search.run(limit);
    for (const auto which : all_recipes())
      if (is_wanted_kind(which, wanted.kinds))
        for (const auto& path : search.found(which)) found[path] = which;
    auto notes = search.notes();
    if (search.is_gone()) notes.push_back({root, "there is no such node"});
    std::move(notes.begin(), notes.end(), std::back_inserter(all.notes));
  }
  for (const auto& each : wanted.queues) found[each] = recipe::queue;
  for (const auto& each : wanted.recipes) found[each.path] = each.kind;
  for (const auto& [path, which] : found) all.sites.push_back({which, path, false});
  co_return all;
}

}  // namespace zkadmin
