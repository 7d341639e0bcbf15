// The format of a dead letter: one line of JSON about the item, then the item's data, unchanged.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <zkrecipes/queue_types.hpp>

namespace zkrecipes::detail {

std::string write_letter(const std::string& item, std::int32_t attempts, std::string_view reason,
                         std::string_view data);
/// Nothing if the text was not written by `write_letter`.
std::optional<dead_letter> read_letter(std::string_view text);

}  // namespace zkrecipes::detail
