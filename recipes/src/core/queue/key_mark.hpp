// The mark of a key whose messages are parked: `_parked/<name>`. Its name follows from the key, so that the consumer
// and an operator need not look for it. The first version of the mark means that messages of the key are parked; a
// later one that they are being put back. A node below the
// mark has the name of this parking, because another one of the same key has the same mark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zkrecipes::detail {

/// The version of a mark that nobody has changed.
inline constexpr std::int32_t mark_of_parking = 0;

/// The name of the mark: a UUID made of the whole key.
std::string mark_of(std::string_view key);
bool is_mark(std::string_view name);
/// How the names of the dead letters of a key begin: the number follows.
std::string letters_of(std::string_view mark);
/// The name of the mark that a dead letter of this name belongs to; empty if it belongs to none.
std::string_view mark_of_letter(std::string_view letter);

/// The first bytes of a key, for operators.
std::string shown_key(std::string_view key);
std::string write_mark(std::string_view key);
/// The first bytes of the key; nothing if the text was not written by `write_mark`.
std::optional<std::string> read_mark(std::string_view text);

}  // namespace zkrecipes::detail
