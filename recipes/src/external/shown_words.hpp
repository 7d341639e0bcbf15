// What a source of the user's says, for error texts and logs.
#pragma once

#include <string>
#include <string_view>

namespace zkrecipes::detail {

/// A name, or what an exception says: its first 1 000 bytes, with '?' for each control character.
std::string shown_words(std::string_view said);

}  // namespace zkrecipes::detail
