// Reads what a recipe has stored in a node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

namespace zkadmin {

/// The data of a node as a JSON object; an empty one if it is none. Ids may hold any bytes, as in the library.
boost::json::object parse_stored(std::string_view data);

/// A field of type string; empty if it is missing or has another type.
std::string text_field(const boost::json::object& record, std::string_view name);

/// A field of type integer; 0 if it is missing or has another type.
std::int64_t integer_field(const boost::json::object& record, std::string_view name);

}  // namespace zkadmin
