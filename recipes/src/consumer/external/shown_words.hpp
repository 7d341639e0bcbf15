// What a source of the user's says, for error texts and logs.
#pragma once

#include <string>
#include <string_view>

namespace zkrecipes::detail {

/// A name, or what an exception says: its first 1 000 bytes, as `shown_text` shows them.
std::string shown_words(std::string_view said);

}  // namespace zkrecipes::detail
