// What a broker keeps. A copy is what a replica has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "redis/stream_position.hpp"

namespace zkrecipes::simulation {

using redis_command = std::vector<std::string>;
using redis_fields = std::vector<std::pair<std::string, std::string>>;

struct redis_stream {
  std::map<detail::stream_id, redis_fields> entries;
  detail::stream_id last{};  ///< The last id that was given.
  std::uint64_t added = 0;   ///< Entries that were ever added.
};

struct redis_data {
  std::map<std::string, redis_stream> streams;
  std::map<std::string, std::map<std::string, std::string>> hashes;

  bool has(const std::string& key) const { return streams.contains(key) || hashes.contains(key); }
};

}  // namespace zkrecipes::simulation
