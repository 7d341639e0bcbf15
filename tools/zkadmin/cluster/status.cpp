#include "cluster/status.hpp"

#include <algorithm>

namespace zkadmin {

const char* to_string(server_role role) noexcept {
  switch (role) {
    case server_role::leader: return "leader";
    case server_role::follower: return "follower";
    case server_role::observer: return "observer";
    case server_role::standalone: return "standalone";
    case server_role::not_serving: return "not serving";
  }
  return "unknown";
}

bool is_serving(const server_status& server) noexcept {
  return server.role && *server.role != server_role::not_serving;
}

bool may_serve(const server_status& server) noexcept {
  return server.reachable && server.role != server_role::not_serving;
}

const char* standing(const server_status& server) noexcept {
  if (server.role) return to_string(*server.role);
  if (server.reachable) return "unknown";
  if (!server.silent) return "down";
  return server.error.empty() ? "asked" : "silent";
}

const std::string& label(const candidate_status& who) noexcept { return who.id.empty() ? who.node : who.id; }

bool is_known(const election_status& election) noexcept {
  return election.phase != foreign_phase && election.phase != refused_phase;
}

bool is_abandoned(const election_status& election) noexcept {
  const auto& phase = election.phase;
  const bool in_office =
      phase == "inaugurating" || phase == "executing" || phase == "handing_over" || phase == "unknown";
  return in_office && !election.leader && election.waiters.empty();
}

/// Nobody is there to follow a leader that is known to be dead.
bool is_orphaned(const election_status& election) noexcept {
  return election.phase == "died" && !election.leader && election.waiters.empty();
}

std::string problem_of(const election_status& election) {
  if (is_abandoned(election)) return "in office by its record, but nobody is in line";
  if (election.phase == "stalled") return "given up by its watchdog: it made no progress";
  if (is_orphaned(election)) return "its leader has died, and nobody is in line";
  if (election.phase == foreign_phase) return "its node holds data that zkrecipes did not write";
  if (election.phase == refused_phase) return "it may not be read with these credentials";
  return {};
}

void put_problems_first(std::vector<election_status>& elections) {
  std::stable_partition(elections.begin(), elections.end(), [](const auto& each) { return !problem_of(each).empty(); });
}

std::string to_string(const survey_note& note) { return note.path + ": " + note.text; }

}  // namespace zkadmin
