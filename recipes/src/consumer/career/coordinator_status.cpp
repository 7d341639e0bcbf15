#include <zkrecipes/consumer/consumer_coordinator.hpp>

namespace zkrecipes {

const char* to_string(coordinator_phase phase) noexcept {
  switch (phase) {
    case coordinator_phase::idle: return "idle";
    case coordinator_phase::campaigning: return "campaigning";
    case coordinator_phase::taking_over: return "taking_over";
    case coordinator_phase::inaugurating: return "inaugurating";
    case coordinator_phase::executing: return "executing";
    case coordinator_phase::handing_over: return "handing_over";
    case coordinator_phase::ending: return "ending";
  }
  return "?";
}

}  // namespace zkrecipes
