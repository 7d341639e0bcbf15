#include "cluster/status.hpp"

namespace zkadmin {

const char* to_string(server_role role) noexcept {
  switch (role) {
    case server_role::leader:
      return "leader";
    case server_role::follower:
      return "follower";
    case server_role::observer:
      return "observer";
    case server_role::standalone:
      return "standalone";
    case server_role::not_serving:
      return "not serving";
  }
  return "unknown";
}

bool is_serving(const server_status& server) noexcept {
  return server.role && *server.role != server_role::not_serving;
}

bool is_trouble(const std::string& phase) noexcept {
  return phase == "stalled" || phase == foreign_phase || phase == refused_phase;
}

}  // namespace zkadmin
