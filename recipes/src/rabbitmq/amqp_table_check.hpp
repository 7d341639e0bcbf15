// Whether tables of AMQP can be decoded: rabbitmq-c calls itself for each table in a table.
#pragma once

#include <string_view>

namespace zkrecipes::detail {

/// A table with its length stands at the beginning, is well-formed, and has no more than 16 levels.
bool begins_with_table(std::string_view bytes);
/// The same for the headers in the properties of a message, if there are any.
bool has_good_headers(std::string_view properties);

}  // namespace zkrecipes::detail
