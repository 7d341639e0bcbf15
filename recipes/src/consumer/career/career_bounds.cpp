#include "career/career_bounds.hpp"

#include <stdexcept>
#include <string>

namespace zkrecipes::detail {

void require_within_hour(const char* field, std::chrono::milliseconds value) {
  using namespace std::chrono_literals;
  if (value >= 0ms && value <= 1h) return;
  throw std::invalid_argument(std::string(field) + " is " + std::to_string(value.count()) +
                              " ms; it must be from 0 to 1 h");
}

career_traits traits_of(const leader_career& career) {
  const auto traits = career.traits();
  require_within_hour("career_traits::hand_over_deadline", traits.hand_over_deadline);
  require_within_hour("career_traits::aftermath", traits.aftermath);
  require_within_hour("career_traits::stall_limit", traits.stall_limit);
  return traits;
}

}  // namespace zkrecipes::detail
