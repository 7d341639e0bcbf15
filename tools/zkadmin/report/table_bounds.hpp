// How much a table holds.
#pragma once

#include <cstddef>
#include <limits>

namespace zkadmin {

struct table_bounds {
  std::size_t rows;    ///< A table of shards ends after so many.
  std::size_t ranges;  ///< Characters of a list of shards.
};

inline constexpr table_bounds for_print{20, 40};
inline constexpr table_bounds everything{std::numeric_limits<std::size_t>::max(),
                                         std::numeric_limits<std::size_t>::max()};

}  // namespace zkadmin
