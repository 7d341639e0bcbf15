// Selects rows of a list by a text.
#pragma once

#include <string_view>

namespace zkadmin {

/// Whether the text contains the filter. Letters of the filter without capitals stand for both cases. A `!` in front
/// of it selects the texts that do not contain it. An empty filter selects all.
bool passes(std::string_view text, std::string_view filter);

}  // namespace zkadmin
