// Settings of a balance that processes share.
#pragma once

#include <cstdint>
#include <string>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// Settings of a `shared_balance`.
struct shared_balance_options {
  /// Our name, for operators. 1 to 256 bytes, no control characters. Processes may have the same.
  std::string id{};
  /// By how many steps two tracks may differ, in steps. 1 to 1 000 000 000, the same in all processes. The rate of a
  /// track is bound by it: see docs/recipes/shared-balance.md.
  std::uint64_t range = 100;
};

}  // namespace zkrecipes
