// Reads the sessions of a cluster: from the servers and, for owners of ephemeral nodes, from the tree.
#pragma once

#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/node_view.hpp"
#include "cluster/secure_connections.hpp"
#include "cluster/session_answers.hpp"
#include "cluster/session_status.hpp"
#include "cluster/tree_search.hpp"
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

}  // namespace zkadmin
