// The problems of servers, and of the ensemble as a whole.
#pragma once

#include <span>
#include <vector>

#include "cluster/status.hpp"
#include "problems/verdict.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// What the servers' answers prove about the service.
enum class service_state {
  serves,     ///< A server serves requests: there is a quorum.
  asking,     ///< No server serves as far as is known, and some have not answered yet.
  not_told,   ///< Servers answer, and do not tell whether they serve.
  no_quorum,  ///< No server serves, and at least one says so.
  no_answer,  ///< Nothing came from any server.
};
service_state service_of(std::span<const server_status> servers) noexcept;

/// The server that leads. If several claim to, the one with the highest zxid: a former leader may not know yet that it
/// was deposed. Null: none of them says that it leads.
const server_status* leader_among(std::span<const server_status> servers) noexcept;

/// The problems of one server, which is one of `servers`.
problem_list problems_of(const server_status& server, std::span<const server_status> servers,
                         const problem_limits& limits = {});

/// The problems of the ensemble, and those of all servers.
problem_list problems_of(std::span<const server_status> servers, const problem_limits& limits = {});

/// The gaps in what is known of the servers: those that do not tell their state, or have not answered yet.
std::vector<survey_note> unknown_of(std::span<const server_status> servers);

}  // namespace zkadmin
