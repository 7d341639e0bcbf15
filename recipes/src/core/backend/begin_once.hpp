#pragma once

#include <utility>

namespace zkrecipes::detail {

/// Calls `begin`, unless the flag says that it is under way. Nothing is under way if `begin` throws for want of memory.
template <class Begin>
void begin_once(bool& flag, Begin begin) {
  if (std::exchange(flag, true)) return;
  try {
    begin();
  } catch (...) {
    flag = false;
    throw;
  }
}

}  // namespace zkrecipes::detail
