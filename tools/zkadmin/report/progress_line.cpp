#include "report/progress_line.hpp"

#include <algorithm>

#include "text.hpp"

namespace zkadmin {

std::string progress_line(std::chrono::milliseconds at, const std::string& state, const std::string& who) {
  constexpr std::size_t time_width = 9, state_width = 12;
  const std::string time = "+" + short_duration(at);
  const std::string lead(time.size() < time_width ? time_width - time.size() : 0, ' ');
  const std::string gap(state.size() < state_width ? state_width - state.size() : 0, ' ');
  return lead + time + "  " + state + gap + "  " + who + "\n";
}

}  // namespace zkadmin
