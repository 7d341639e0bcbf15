// Which recipes a look at access rights is for.
#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/recipe_survey.hpp"
#include "cluster/tree_search.hpp"
#include "commands/targets.hpp"

namespace zkadmin {

struct access_sites {
  std::vector<recipe_site> sites{};  ///< Sorted by path, one for each.
  std::vector<survey_note> notes{};  ///< What the search has left out.
};

/// The recipes of the wanted kinds at and below the roots, those that are declared, and each path that was named, also
/// if it is no recipe. Throws `failure`.
boost::asio::awaitable<access_sites> find_access_sites(zkrecipes::session session, const targets& wanted,
                                                       const std::vector<std::string>& roots, deadline limit);

}  // namespace zkadmin
