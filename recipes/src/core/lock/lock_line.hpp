// The line of a lock.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "line/line_spec.hpp"

namespace zkrecipes::detail {

/// The names in Curator's mutex, and in both generations of kazoo's lock.
inline constexpr std::string_view lock_markers[] = {"lock-", "__lock__"};

inline line_spec lock_line(std::string path) {
  line_spec line{std::move(path), "lock-", lock_markers};
  line.one_by_one = true;
  return line;
}

}  // namespace zkrecipes::detail
