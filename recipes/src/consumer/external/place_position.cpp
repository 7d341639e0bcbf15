#include "external/place_position.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::string_view place_position_kind = "external_position";

/// Each is there once, and is not `last`.
bool are_places(const std::vector<std::string>& ahead, const std::string& last) {
  std::set<std::string_view> seen{std::string_view(), last};
  return std::ranges::all_of(ahead, [&seen](const std::string& each) { return seen.insert(each).second; });
}

}  // namespace

std::string serialize(const place_position& position) {
  auto all = json_object::of_kind(place_position_kind);
  all.set("last", position.last);
  if (!position.ahead.empty()) all.set("ahead", position.ahead);
  std::vector<std::string> failed;
  for (const auto& [place, attempts] : position.failed) failed.push_back(failed_text(place, attempts));
  if (!failed.empty()) all.set("failed", failed);
  return all.add(position.unknown_fields).to_text();
}

std::optional<place_position> parse_place_position(std::string_view text) {
  const auto read = json_object::parse(text);
  if (!read || !read->is(place_position_kind)) return std::nullopt;
  const auto texts = [&read](std::string_view name) {
    return read->has(name) ? read->texts(name) : std::optional(std::vector<std::string>());
  };
  auto last = read->text("last");
  auto ahead = texts("ahead");
  const auto failed = texts("failed");
  if (!last || !ahead || !failed) return std::nullopt;
  if (!are_places(*ahead, *last)) return std::nullopt;
  place_position position;
  position.last = std::move(*last);
  position.ahead = std::move(*ahead);
  for (const auto& each : *failed) {
    const auto one = parse_failed_attempts(each);
    if (!one || one->first.empty()) return std::nullopt;
    position.failed.emplace(one->first, one->second);
  }
  position.unknown_fields = read->without({"last", "ahead", "failed"});
  return position;
}

}  // namespace zkrecipes::detail
