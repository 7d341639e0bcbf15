// Reads what a recipe has stored in a node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/json_object.hpp"

namespace zkadmin {

/// The data of a node as a JSON object; an empty one if it is none. Ids may hold any bytes, as in the library.
zkrecipes::detail::json_object parse_stored(std::string_view data);

/// A field of type string; empty if it is missing or has another type.
std::string text_field(const zkrecipes::detail::json_object& record, std::string_view name);

/// A field that is a whole number; 0 if it is missing or has another type.
std::int64_t integer_field(const zkrecipes::detail::json_object& record, std::string_view name);

}  // namespace zkadmin
