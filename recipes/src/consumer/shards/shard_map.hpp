// The hint for routers: which member owns which shard.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/consumer/shard_router.hpp>

namespace zkrecipes::detail {

struct shard_map {
  std::int64_t plan = 0;
  std::vector<shard_route> members;
  std::vector<std::size_t> owners;  ///< By shard: the index of a member; as many as there are members: nobody.
};

/// Nothing if it is not a map.
std::optional<shard_map> parse_shard_map(const std::string& data);

}  // namespace zkrecipes::detail
