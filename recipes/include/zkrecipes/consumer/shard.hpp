// A shard: one part of the keys of a service.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// One of the shards of a group.
struct shard {
  std::uint32_t number = 0;  ///< From 0.
  std::uint32_t count = 0;   ///< How many there are.
  std::string name() const;  ///< Its number in four digits, as in the names of nodes.

  friend bool operator==(const shard&, const shard&) = default;
};

/// The number of the shard that a key belongs to: its CRC-32 (that of zlib, `java.util.zip.CRC32` and Python's
/// `zlib.crc32`) modulo the number of shards, so that programs in other languages find the same one. Thread safety:
/// safe. \throws std::invalid_argument if `shards` is 0.
std::uint32_t shard_of(std::string_view key, std::uint32_t shards);

}  // namespace zkrecipes
