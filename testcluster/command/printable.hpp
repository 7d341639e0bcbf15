#pragma once

#include <string>
#include <string_view>

namespace testcluster::command {

/// The text with \xNN in place of each byte of a character that a terminal does not show as itself (what zkadmin shows
/// as U+FFFD, too), so that it can not give orders to a terminal, and a mistake in a file can be seen.
std::string printable(std::string_view text);
/// The same for a text whose tabs and line ends stay.
std::string printable_lines(std::string_view text);
/// JSON on one line, with \uNNNN for these characters.
std::string printable_json(std::string_view text);

}  // namespace testcluster::command
