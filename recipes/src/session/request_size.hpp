// The size of a request on the wire.
#pragma once

#include <cstddef>

#include "backend/backend.hpp"

namespace zkrecipes::detail {

/// The most data that a recipe stores in one node: the largest request that a server accepts by default (1 MiB), less
/// the names around the data.
inline constexpr std::size_t max_data_bytes = 1'000'000;

/// The size that a server compares with its `jute.maxbuffer`: the bytes of the packet behind its length, header and
/// body, in ZooKeeper's encoding (zookeeper.jute). The result may be a few bytes too large.
std::size_t size_on_wire(const backend::request& what);

}  // namespace zkrecipes::detail
