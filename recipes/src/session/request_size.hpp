// How long a request is on the wire.
#pragma once

#include <cstddef>

#include "backend/backend.hpp"

namespace zkrecipes::detail {

/// What a server compares with its `jute.maxbuffer`: the bytes of the packet behind its length, header and body, in
/// ZooKeeper's encoding (zookeeper.jute). At most some bytes more than that.
std::size_t size_on_wire(const backend::request& what);

}  // namespace zkrecipes::detail
