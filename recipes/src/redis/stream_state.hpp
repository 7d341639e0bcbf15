// What the broker tells of a stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "redis/stream_id.hpp"

namespace zkrecipes::detail {

struct stream_state {
  stream_id last_generated{};        ///< 0-0: there is no stream, or it has never had an entry.
  std::optional<stream_id> first{};  ///< Nothing: it is empty.
  std::uint64_t length = 0;
  // These are told since Redis 7.
  std::optional<std::uint64_t> added{};        ///< Entries that were ever added.
  std::optional<stream_id> largest_deleted{};  ///< By XDEL.
};

/// Why the stream is not the one that was consumed. Empty: it is, as far as the broker tells. `last`: all up to this
/// entry was consumed; `has_last`: it is in the stream. `farthest`: the last one that was consumed or read.
std::string loss_of(const stream_state& now, const stream_id& last, bool has_last, const stream_id& farthest);

}  // namespace zkrecipes::detail
