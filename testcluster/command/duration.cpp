#include "duration.hpp"

#include <charconv>

namespace testcluster::command {

using std::chrono::milliseconds;

std::optional<milliseconds> parse_duration(const std::string& text) {
  constexpr std::size_t most_digits = 9;
  const auto digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == text.npos || digits > most_digits) return std::nullopt;
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + digits, number);
  const auto unit = text.substr(digits);
  if (unit == "ms") return milliseconds(number);
  if (unit == "s") return milliseconds(number * 1000);
  if (unit == "m") return milliseconds(number * 60'000);
  if (unit == "h") return milliseconds(number * 3'600'000);
  return std::nullopt;
}

std::string to_text(milliseconds duration) {
  const auto count = duration.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + "s" : std::to_string(count) + "ms";
}

}  // namespace testcluster::command
