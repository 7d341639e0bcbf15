// How an acquisition of a lock or of permits stands in line.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// Settings of the recipes that are made of a line: `lock`, `read_write_lock`, `multi_lock`, `semaphore`.
struct line_options {
  /// Our name, as the other clients see it: 1 to 256 bytes, no control characters.
  std::string id = "zkrecipes";
  /// Called while we wait, with the number of members ahead of us, those included that hold the lock or permits, as far
  /// as we know: when we get in line, and whenever we look again and the number differs. A hook: see
  /// docs/operations.md.
  std::function<void(std::size_t ahead)> on_position{};
};

}  // namespace zkrecipes
