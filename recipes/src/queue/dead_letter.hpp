// How a dead letter is written: a line of JSON that tells of the item, then the item's data as it was.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <zkrecipes/queue_types.hpp>

namespace zkrecipes::detail {

std::string write_letter(const std::string& item, std::int32_t attempts, std::string_view reason,
                         std::string_view data);
/// Nothing if it was not written by the above.
std::optional<dead_letter> read_letter(std::string_view text);

}  // namespace zkrecipes::detail
