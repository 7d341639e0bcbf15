// Reads recipes of all kinds, at a path and below, which takes a ZooKeeper session.
#pragma once

#include <compare>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/collector.hpp"
#include "cluster/recipe_reader.hpp"
#include "cluster/recipe_status.hpp"
#include "settings/recipe_kind.hpp"

namespace zkadmin {

/// Where a recipe is, and what it is.
struct recipe_site {
  recipe which = recipe::none;
  std::string path{};
  bool is_declared = false;
  friend auto operator<=>(const recipe_site&, const recipe_site&) = default;
};

/// Whether what was found as `found` may be one of the `wanted`; no `wanted`: any is.
bool may_be(recipe found, const std::optional<recipe>& wanted) noexcept;

/// Adds the declared ones, each in place of what was found at its path, and sorts all by path.
void declare(std::vector<recipe_site>& sites, const std::vector<declared_recipe>& declared);

/// Where the recipes are that have no survey of their own: those that were found, and those that are declared. Without
/// the `queues`, which are read as such. `found(kind)`: the paths of this kind.
std::vector<recipe_site> other_sites(const std::function<std::vector<std::string>(recipe)>& found,
                                     const std::vector<declared_recipe>& declared,
                                     const std::vector<std::string>& queues);

/// Adds what came of reading a site.
void add_reading(recipe_survey& all, const recipe_site& site, reading<recipe_status> seen);

/// Reads what is at the sites, some at a time, and adds it in their order. Nothing is read after `limit`. What can not
/// be read is noted. `is_gone` is told of one that was found and is not there any more.
boost::asio::awaitable<void> read_sites(zkrecipes::session session, const std::vector<recipe_site>& sites,
                                        std::size_t participants, deadline limit, recipe_survey& all,
                                        std::function<void(const recipe_site&)> is_gone = {});

/// What to list.
struct recipe_query {
  std::optional<recipe> kind{};             ///< Nothing: all kinds.
  std::vector<declared_recipe> declared{};  ///< Also those above the root.
};

/// All recipes at and below a root. The search ends at `search_limit`. Throws `failure`.
boost::asio::awaitable<recipe_survey> survey_all_recipes(zkrecipes::session session, std::string root,
                                                         recipe_query query, deadline search_limit, deadline limit);

/// The recipes at `path` itself, with many participants; if the query tells the kind, or the path is declared, that
/// one. Throws `failure`, also if nothing is recognised there.
boost::asio::awaitable<recipe_survey> survey_recipe_at(zkrecipes::session session, std::string path, recipe_query query,
                                                       deadline limit);

}  // namespace zkadmin
