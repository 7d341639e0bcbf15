// The names of shards in paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zkrecipes::detail {

inline constexpr std::uint32_t most_shards = 10'000;

/// Four digits.
std::string shard_name(std::uint32_t number);
/// Nothing if it is not the name of a shard.
std::optional<std::uint32_t> parse_shard_name(std::string_view name);

}  // namespace zkrecipes::detail
