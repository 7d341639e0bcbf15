// Draws the dashboard into cells.
#pragma once

#include "screen/model.hpp"
#include "terminal/grid.hpp"

namespace zkadmin {

struct view_options {
  bool ascii = false;
};

grid render(const model& state, int width, int height, const view_options& options);

}  // namespace zkadmin
