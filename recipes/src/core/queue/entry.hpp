// An item of a queue, as its name describes it.
#pragma once

#include <cstdint>
#include <string>

namespace zkrecipes::detail {

/// A lower rank goes first; items of the same rank go in order of arrival.
struct entry {
  std::string name;
  std::int64_t rank = 0;  ///< The priority, or the time from which it can be taken.
  std::int32_t sequence = 0;
};

/// Whether an item goes before another one.
bool goes_first(const entry& a, const entry& b);

}  // namespace zkrecipes::detail
