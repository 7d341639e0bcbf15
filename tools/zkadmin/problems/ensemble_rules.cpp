#include "problems/ensemble_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace zkadmin {
namespace {

constexpr const char* ensemble = "ensemble";  // The place of a problem of all servers together.

constexpr std::int64_t passed_between_answers = 100;  // Transactions.

bool is_just_asked(const server_status& server) noexcept { return server.silent && server.error.empty(); }
bool reports_role(const server_status& server) noexcept { return server.role.has_value(); }

std::string count_of(std::int64_t count, const char* what) { return std::to_string(count) + what; }

/// How many transactions the server is behind the leader; nothing if that is not known. A zxid is the epoch of its
/// leader, in its upper half, and a counter: the counters of different epochs can not be compared.
std::optional<std::int64_t> lag_of(const server_status& server, std::span<const server_status> servers) {
  const auto* leader = leader_among(servers);
  if (!leader || !leader->zxid || !server.zxid || leader->server == server.server) return std::nullopt;
  if (*leader->zxid >> 32 != *server.zxid >> 32) return std::nullopt;
  return static_cast<std::int64_t>(*leader->zxid) - static_cast<std::int64_t>(*server.zxid);
}

/// Whether it goes by a former leader although the present one has committed transactions: with the first of these a
/// server that follows learns of the new epoch. Some pass unheeded, because the servers are asked at different moments.
bool is_in_old_epoch(const server_status& server, const server_status* leader) noexcept {
  if (!leader || !leader->zxid || !server.zxid || !is_serving(server)) return false;
  const auto committed = *leader->zxid & 0xffffffff;
  return committed > passed_between_answers && *server.zxid >> 32 < *leader->zxid >> 32;
}

/// The one thing that is wrong with a server: a server that does not answer has no zxid to judge.
std::optional<problem> standing_problem(const server_status& server) {
  const auto& error = server.error;
  if (is_just_asked(server)) return std::nullopt;
  if (server.silent) return problem{"server-silent", severity::warning, server.server, error};
  if (!server.reachable)
    return problem{"server-down", severity::warning, server.server, error.empty() ? "down" : error};
  if (server.role != server_role::not_serving) return std::nullopt;
  return problem{"server-not-serving", severity::warning, server.server,
                 error.empty() ? "not serving requests" : error};
}

std::string no_quorum_text(std::span<const server_status> servers) {
  const auto saying = std::count_if(servers.begin(), servers.end(), reports_role);
  const auto others = static_cast<std::int64_t>(servers.size()) - saying;
  return "no server that answers serves requests: " + count_of(saying, " of ") + std::to_string(servers.size()) +
         " say that they do not" + (others > 0 ? ", " + count_of(others, " do not answer") : "");
}

}  // namespace

service_state service_of(std::span<const server_status> servers) noexcept {
  const auto among = [servers](auto condition) { return std::any_of(servers.begin(), servers.end(), condition); };
  if (among(is_serving)) return service_state::serves;
  if (servers.empty() || among(is_just_asked)) return service_state::asking;
  if (among(may_serve)) return service_state::not_told;
  return among(reports_role) ? service_state::no_quorum : service_state::no_answer;
}

const server_status* leader_among(std::span<const server_status> servers) noexcept {
  const server_status* leader = nullptr;
  for (const auto& each : servers)
    if (each.role == server_role::leader && (!leader || leader->zxid < each.zxid)) leader = &each;
  return leader;
}

problem_list problems_of(const server_status& server, std::span<const server_status> servers,
                         const problem_limits& limits) {
  problem_list found;
  if (const auto standing = standing_problem(server)) found.push_back(*standing);
  if (is_in_old_epoch(server, leader_among(servers)))
    found.push_back(
        {"stale-server", severity::warning, server.server,
         "it serves as in epoch " + std::to_string(*server.zxid >> 32) + ", which is over: what it tells may be old"});
  const auto lag = lag_of(server, servers);
  // Our own question is a connection, too. A server without clients delays nobody.
  const auto clients = server.connections.value_or(0) - 1;
  if (is_serving(server) && lag && *lag > limits.zxid_limit && clients > 0)
    found.push_back({"lagging-server", severity::warning, server.server,
                     count_of(*lag, " transactions behind the leader, with ") + count_of(clients, " connections")});
  return found;
}

problem_list problems_of(std::span<const server_status> servers, const problem_limits& limits) {
  problem_list found;
  const auto service = service_of(servers);
  if (service == service_state::no_quorum)
    found.push_back({"no-quorum", severity::critical, ensemble, no_quorum_text(servers)});
  if (service == service_state::no_answer)
    found.push_back(
        {"no-answer", severity::critical, ensemble, "no server answers: 0 of " + std::to_string(servers.size())});
  for (const auto& each : servers)
    for (auto& one : problems_of(each, servers, limits)) found.push_back(std::move(one));
  return found;
}

std::vector<survey_note> unknown_of(std::span<const server_status> servers) {
  std::vector<survey_note> notes;
  for (const auto& each : servers) {
    if (is_just_asked(each)) notes.push_back({each.server, "has not answered yet"});
    if (each.reachable && !each.role)
      notes.push_back({each.server, each.error.empty() ? "does not tell its role" : each.error});
  }
  return notes;
}

}  // namespace zkadmin
