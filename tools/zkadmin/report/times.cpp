#include "report/times.hpp"

#include <array>
#include <ctime>

namespace zkadmin {

std::string utc_time(std::int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  std::array<char, 64> text{};
  if (!::gmtime_r(&seconds, &parts) || std::strftime(text.data(), text.size(), "%F %T UTC", &parts) == 0) return "?";
  return text.data();
}

}  // namespace zkadmin
