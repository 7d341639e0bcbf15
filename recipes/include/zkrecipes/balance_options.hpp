// Settings of a balance.
#pragma once

#include <cstdint>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// Settings of a `balance`.
struct balance_options {
  /// By how many steps two tracks may differ, in steps. 1 to 1 000 000 000. A small range keeps the tracks close
  /// together; a large one costs less and waits less.
  std::uint64_t range = 100;
};

}  // namespace zkrecipes
