// Texts for a given width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zkadmin {

/// At most `width` places: of a longer text both ends are kept, with an ellipsis between them.
std::string cut_in_middle(std::string_view utf8, int width);

/// At most `width` places: of a longer text the end is kept.
std::string cut_at_begin(std::string_view utf8, int width);

/// The whole text in lines of at most `width` places, broken at spaces if there are any.
std::vector<std::string> wrapped(std::string_view utf8, int width);

}  // namespace zkadmin
