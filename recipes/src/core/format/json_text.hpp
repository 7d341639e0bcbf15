// JSON as text: checked by one validator, then taken apart and put together without reading a number or a string that
// nobody asks for. So a value that is carried on stays as it was written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zkrecipes::detail {

/// Which bytes a JSON text may contain.
enum class encoding {
  any,   ///< For records that hold ids, reasons or data of the user, which need not be UTF-8.
  utf8,  ///< For records without such text, and for the format of Curator's clients, who read UTF-8 only.
};

/// Whether the text is exactly one JSON value, nested at most 32 levels deep. The functions below expect such a text,
/// or a value within it.
bool is_json(std::string_view text, encoding allowed);

/// The same text without the blanks around it and between its tokens.
std::string without_blanks(std::string_view json);

/// The place behind the string that begins at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at);

/// Appends the JSON string of these bytes, as Boost.JSON writes it.
void append_quoted(std::string& text, std::string_view bytes);

/// The value of a string; nothing if it is none.
std::optional<std::string> unquoted(std::string_view json);

/// The value of a whole number, in any notation; nothing for 7.5, for "7", and beyond 64 bits.
std::optional<std::int64_t> whole_number(std::string_view json);

}  // namespace zkrecipes::detail
