#include "cluster/session_roles.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "cluster/node_path.hpp"
#include "cluster/recipe_reader.hpp"
#include "cluster/recipe_survey.hpp"
#include "failure.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using known_sites = std::vector<recipe_site>;

/// Finds the recipes of nodes one after the other, and reads each folder and each recipe only once.
class role_finder {
 public:
  role_finder(zkrecipes::session session, std::vector<declared_recipe> declared, deadline limit)
      : session_(std::move(session)), declared_(std::move(declared)), limit_(limit) {}

  /// A recipe whose kind is certain is preferred. Throws `failure`.
  asio::awaitable<void> look_at(owned_node& node, std::int64_t owner) {
    const auto folder = parent_of(node.path);
    const std::vector<std::string> places{node.path, folder, parent_of(folder)};
    for (const auto& place : places) {
      const auto sites = co_await sites_around(place, node.path);
      for (const auto& site : sites) {
        const auto recipe = co_await recipe_at(site);
        const auto role = role_of(recipe, owner, name_of(node.path));
        if (role.empty() || (recipe.kinds.size() > 1 && !node.role.empty())) continue;
        node = {node.path, kind_text(recipe), recipe.path, role};
        if (recipe.kinds.size() == 1) co_return;
      }
    }
  }

 private:
  /// What the node at `place` tells of, by itself, by the one that belongs to the session, and by the limit of a
  /// balance. The node of the session counts only if it is declared.
  asio::awaitable<known_sites> sites_around(std::string place, std::string node) {
    known_sites sites;
    for (const auto& each : declared_)
      if (each.path == place) sites.push_back({each.kind, place, true});
    if (!sites.empty() || place == node) co_return sites;
    const auto known = sites_.find(place);
    if (known != sites_.end()) co_return known->second;
    search_options how{.is_known_root = true, .levels = 1};
    how.skips = [node](const std::string& child) { return child != node && name_of(child) != "limit"; };
    tree_search search(session_, place, std::move(how));
    co_await search.run(limit_);
    for (const auto which : all_recipes())
      for (const auto& path : search.found(which)) sites.push_back({which, path, false});
    sites_[place] = sites;
    co_return sites;
  }

  asio::awaitable<recipe_status> recipe_at(recipe_site site) {
    const auto key = std::pair(site.which, site.path);
    const auto known = recipes_.find(key);
    if (known != recipes_.end()) co_return known->second;
    const recipe_reading how{many_participants, site.is_declared};
    auto seen = co_await read_recipe(session_, site.which, site.path, how);
    if (seen.error) seen.status = {site.path, {site.which}};  // it has gone
    recipes_[key] = seen.status;
    co_return seen.status;
  }

  zkrecipes::session session_;
  std::vector<declared_recipe> declared_;
  deadline limit_;
  std::map<std::string, known_sites> sites_;
  std::map<std::pair<recipe, std::string>, recipe_status> recipes_;
};

}  // namespace

std::string role_of(const recipe_status& recipe, std::int64_t session, const std::string& node) {
  const auto& all = recipe.participants;
  const auto is_it = [&](const auto& each) { return each.node == node && each.session.value_or(session) == session; };
  const auto found = std::find_if(all.begin(), all.end(), is_it);
  if (found != all.end()) return found->role;
  // A persistent node is its own recipe, with nobody in it.
  const bool is_node_itself = name_of(recipe.path) == node && recipe.session == session;
  return is_node_itself ? "owner" : "";
}

asio::awaitable<void> add_roles(zkrecipes::session session, std::vector<declared_recipe> declared, deadline limit,
                                session_status& one, session_survey& all) {
  role_finder finder(std::move(session), std::move(declared), limit);
  std::size_t looked_at = 0;
  if (!one.nodes) co_return;
  for (auto& each : *one.nodes) {
    if (looked_at == most_nodes_with_roles || std::chrono::steady_clock::now() >= limit) break;
    ++looked_at;
    try {
      co_await finder.look_at(each, one.id);
    } catch (const failure& error) {
      all.complete = false;
      all.notes.push_back({each.path, std::string("its recipe is not known: ") + error.what()});
    }
  }
  const auto left = one.nodes->size() - looked_at;
  if (left == 0) co_return;
  all.complete = false;
  all.notes.push_back({"/", "the recipes of " + std::to_string(left) + " more nodes were not looked for"});
}

}  // namespace zkadmin
