// The size of a request on the wire.
#pragma once

#include <cstddef>

#include "backend/request.hpp"

namespace zkrecipes::detail {

/// The size that a server compares with its `jute.maxbuffer`: the bytes of the packet behind its length, header and
/// body, in ZooKeeper's encoding (zookeeper.jute). The result may be a few bytes too large.
std::size_t size_on_wire(const backend::request& what);

}  // namespace zkrecipes::detail
