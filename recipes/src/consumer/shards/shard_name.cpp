#include "shards/shard_name.hpp"

#include <algorithm>

#include "format/whole_number.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::size_t name_length = 4;

}  // namespace

std::string shard_name(std::uint32_t number) {
  auto digits = std::to_string(number);
  return std::string(name_length - std::min(name_length, digits.size()), '0') + digits;
}

std::optional<std::uint32_t> parse_shard_name(std::string_view name) {
  return name.size() == name_length ? parse_whole<std::uint32_t>(name) : std::nullopt;
}

}  // namespace zkrecipes::detail
