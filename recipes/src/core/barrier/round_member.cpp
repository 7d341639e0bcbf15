#include "barrier/round_member.hpp"

#include <charconv>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::string_view member_markers[] = {"-member-"};
constexpr std::string_view guid_prefix = "_c_";
constexpr std::size_t guid_length = 36;

}  // namespace

std::optional<round_member> parse_round_member(const member& of) {
  const auto& name = of.name;
  const auto size_at = guid_prefix.size() + guid_length + 1;
  if (!name.starts_with(guid_prefix) || name.size() <= size_at || name[size_at - 1] != '-') return std::nullopt;
  round_member who{name, name.substr(guid_prefix.size(), guid_length), 0, of.sequence};
  const auto* end = name.data() + name.size();
  auto [rest, error] = std::from_chars(name.data() + size_at, end, who.size);
  const bool fine = error == std::errc() && who.size > 0 && std::string_view(rest, end).starts_with(member_markers[0]);
  return fine ? std::optional(std::move(who)) : std::nullopt;
}

std::span<const std::string_view> round_markers() { return member_markers; }

std::string round_marker(int size) { return std::to_string(size).append(member_markers[0]); }

}  // namespace zkrecipes::detail
