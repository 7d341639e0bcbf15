// The format of a dead letter: one line of JSON about the item, then the item's data, unchanged.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <zkrecipes/queue_base.hpp>

namespace zkrecipes::detail {

/// The name and `since` of the letter are those of the node, and not written.
std::string write_letter(const dead_letter& letter);
/// Nothing if the text was not written by `write_letter`.
std::optional<dead_letter> read_letter(std::string_view text);

}  // namespace zkrecipes::detail
