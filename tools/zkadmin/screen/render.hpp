// Draws the dashboard into cells.
#pragma once

#include <chrono>

#include "screen/grid.hpp"
#include "screen/model.hpp"

namespace zkadmin {

struct view_options {
  bool ascii = false;
  std::chrono::seconds utc_offset{0};  ///< Applied to the times of day that are shown.
};

grid render(const model& state, int width, int height, const view_options& options);

}  // namespace zkadmin
