// The nodes of a balance that processes share: making them, and reading the limit.
#pragma once

#include <cstdint>

#include "balance/pace_place.hpp"
#include "balance/pace_record.hpp"

namespace zkrecipes::detail {

/// The limit as it was read.
struct limit_sight {
  error_code error{};  ///< That of the read, or `foreign_data` or `size_mismatch` by what is there.
  limit_record record{};
  std::int32_t version = 0;
  std::int64_t mzxid = 0;
};

limit_sight see_limit(const pace_place& where, const backend::reply& node);

/// Reads the limit. If there is none, and no node of members either, both are made, with the limit `known` or the
/// range, whichever is higher. Error `no_node`: only the limit is missing.
awaitable<limit_sight> find_limit(pace_place_ptr where, std::int64_t known);

}  // namespace zkrecipes::detail
