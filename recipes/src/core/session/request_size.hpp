// How large a request may be.
#pragma once

#include <cstddef>
#include <string>

#include "backend/request.hpp"

namespace zkrecipes::detail {

/// The size that a server compares with its `jute.maxbuffer`: the bytes of the packet behind its length, header and
/// body, in ZooKeeper's encoding (zookeeper.jute). The result may be a few bytes too large.
std::size_t size_on_wire(const backend::request& what);

/// The most data that a recipe puts into one request: what a server accepts by default, less room for the names. An
/// operation with more completes with `too_large` before anything is sent.
inline constexpr std::size_t max_data_bytes = 1'000'000;

inline bool is_too_large(const std::string& data) { return data.size() > max_data_bytes; }

}  // namespace zkrecipes::detail
