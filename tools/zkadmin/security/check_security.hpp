// `zkadmin check --security`.
#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/recipe_survey.hpp"
#include "cluster/tree_search.hpp"
#include "commands/commands.hpp"
#include "commands/targets.hpp"

namespace zkadmin {

/// Prints the problems of access rights and of what the servers tell everybody, or of the part that `only` names (see
/// targets.hpp), and what is not known of them. Returns the state for monitoring.
check_state check_security(surroundings& around, const settings& wanted, const std::vector<std::string>& only,
                           output_format format);

/// Which recipes a look at access rights is for.
struct access_sites {
  std::vector<recipe_site> sites{};  ///< Sorted by path, one for each.
  std::vector<survey_note> notes{};  ///< What the search has left out.
};

/// The recipes of the wanted kinds at and below the roots, those that are declared, and each path that was named, also
/// if it is no recipe. Throws `failure`.
boost::asio::awaitable<access_sites> find_access_sites(zkrecipes::session session, const targets& wanted,
                                                       const std::vector<std::string>& roots, deadline limit);

}  // namespace zkadmin
