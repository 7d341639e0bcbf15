#include "line/node_name.hpp"

#include <algorithm>
#include <charconv>

namespace zkrecipes::detail {

std::string protected_name(std::string_view guid, std::string_view marker) {
  return std::string("_c_").append(guid).append("-").append(marker);
}

std::optional<std::int32_t> parse_sequence(std::string_view name, std::span<const std::string_view> markers) {
  for (auto marker : markers) {
    auto found = name.rfind(marker);
    if (found == name.npos) continue;
    auto digits = name.substr(found + marker.size());
    std::int32_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.size() >= 10 && error == std::errc() && end == digits.data() + digits.size()) return value;
  }
  return std::nullopt;
}

std::vector<member> members_of(const std::vector<std::string>& children, std::span<const std::string_view> markers) {
  std::vector<member> members;
  for (const auto& name : children) {
    if (auto sequence = parse_sequence(name, markers)) members.push_back({name, *sequence, false});
  }
  if (members.empty()) return members;
  // Seen from a fixed member, since `before` is no order where foreign numbers lie all around the circle.
  auto smaller = [](const member& a, const member& b) { return a.sequence < b.sequence; };
  const auto origin = std::min_element(members.begin(), members.end(), smaller)->sequence;
  auto distance = [origin](const member& each) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(each.sequence) - static_cast<std::uint32_t>(origin));
  };
  std::sort(members.begin(), members.end(),
            [&](const member& a, const member& b) { return distance(a) < distance(b); });
  return members;
}

}  // namespace zkrecipes::detail
