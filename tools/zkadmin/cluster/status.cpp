#include "cluster/status.hpp"

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

bool is_orphaned(const election_status& election) noexcept {
  return election.phase == "died" && !election.leader && election.waiters.empty();
}

std::string to_string(const survey_note& note) { return note.path + ": " + note.text; }

}  // namespace zkadmin
