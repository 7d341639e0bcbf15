// What the keys do.
#pragma once

#include "screen/model.hpp"

namespace zkadmin {

/// Does what the table of the keys says.
effect press(model& state, stroke typed);

}  // namespace zkadmin
