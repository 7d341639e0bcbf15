#include <zkrecipes/session.hpp>

namespace zkrecipes {

const char* to_string(failure_reason reason) noexcept {
  switch (reason) {
    case failure_reason::refused: return "refused";
    case failure_reason::unreachable: return "unreachable";
    case failure_reason::silent: return "silent";
    case failure_reason::closed: return "closed";
    case failure_reason::authentication: return "authentication";
    case failure_reason::read_only: return "read_only";
    case failure_reason::session_refused: return "session_refused";
    case failure_reason::unresolved: return "unresolved";
    case failure_reason::no_descriptors: return "no_descriptors";
    case failure_reason::tls: return "tls";
  }
  return "?";
}

}  // namespace zkrecipes
