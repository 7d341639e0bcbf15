// Reads the sessions of a cluster: from the servers and, for owners of ephemeral nodes, from the tree.
#pragma once

#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/nodes.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/tree_search.hpp"
#include "servers/prober.hpp"
#include "sessions/session_answers.hpp"
#include "settings/recipe_kind.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// All that one server has told.
struct server_answers {
  asked_server asked;
  told_connections connections{};
  told_owners owners{};
  std::string owners_told_by{};  ///< "admin_server of a:2181", "dump of a:2181".
};

/// Asks one server: its AdminServer, else by four-letter words, with `tls` over TLS. Each of the two gets half of the
/// time.
boost::asio::awaitable<server_answers> ask_about_sessions(endpoint server, std::uint16_t admin_port,
                                                          tls_context_ptr tls, deadline limit);

/// What comes of all answers, sorted by id. `chroot`: the root of the hosts, empty if there is none. Pure.
session_survey sessions_of(std::vector<server_answers> answers, const std::string& chroot);

/// Adds the owners of the nodes that a walk has found. Pure.
void add_owners(session_survey& all, const node_listing& seen);

/// The sessions of the cluster. Where no server tells who owns which node, the tree at and below the root is walked.
/// Throws `failure`.
boost::asio::awaitable<session_survey> survey_sessions(zkrecipes::session session, settings wanted, deadline limit);

// The recipes that the nodes of a session belong to, and its part in them.

/// The recipes of so many nodes are looked for.
inline constexpr std::size_t most_nodes_with_roles = 200;

/// Fills in the recipes and the roles of the nodes of `one`. Recipes that the settings declare are of the kind that
/// they say. What can not be read is noted in `all`. Throws `failure`.
boost::asio::awaitable<void> add_roles(zkrecipes::session session, std::vector<declared_recipe> declared,
                                       deadline limit, session_status& one, session_survey& all);

/// The part in a recipe that the node gives to the session; empty: none is known. Pure.
std::string role_of(const recipe_status& recipe, std::int64_t session, const std::string& node);

}  // namespace zkadmin
